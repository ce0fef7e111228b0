"""Asking vendors on the operator's behalf: are they there, do they accept this key?"""
