"""Who asks: the command line and the report. Nothing is computed here."""
