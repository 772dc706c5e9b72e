"""The built-in accelerator cores, registered through the same entry points as anyone's.

May import `dse.contract`, and nothing else of the engine.
"""
