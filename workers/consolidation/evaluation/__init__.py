"""How well the rules tell a repetition from a replacement and from another fact."""
