"""State that outlives a step: variables, optimizer updates, lookup tables, session handles."""
