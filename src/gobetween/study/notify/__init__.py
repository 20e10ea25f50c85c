"""Telling people. Read `messages` first, who is told what; `channels` says how it reaches them. `study/delivery.py` sends."""
