import CSecret
import SequencingOAuth
