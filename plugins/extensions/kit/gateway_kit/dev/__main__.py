"""Started by the command ``plugins dev``, once for each version of the plugin."""

from .child import main

main()
