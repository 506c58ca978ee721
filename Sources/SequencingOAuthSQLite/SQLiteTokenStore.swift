import CSQLite
import SequencingOAuth
