"""What many families share, without op types: shape checks, type sets, sample inputs, family makers."""
