// Works on a store in a process of its own, for the tests.
import SequencingOAuth
