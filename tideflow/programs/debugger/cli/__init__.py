"""The debugger on a terminal: commands that are typed, and lines with attributes that answer them."""
