"""Reads a CSV file, sums it up by column and by group, and says so in Markdown and SVG."""
