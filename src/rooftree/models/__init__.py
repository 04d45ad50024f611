"""What follows: equations with no time passing and no dice."""
