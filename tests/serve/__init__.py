"""Tests of served pages."""
