import SequencingOAuth

/// A record with every part.
func record(_ id: String, token: SQToken = SQTokenTests.full) -> AccountRecord {
  AccountRecord(id: id, clientID: "client", issuer: "https://id.example", token: token)
}
