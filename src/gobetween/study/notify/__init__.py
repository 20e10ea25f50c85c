"""Telling people: `messages` says who is told what, `channels` how it reaches them. `study/delivery.py` sends."""
