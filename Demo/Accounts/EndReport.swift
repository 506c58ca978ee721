/// What `logout` and `revoke` did, for a program.
struct EndReport: Encodable {
  /// The account; `nil` if no account was named and none was kept.
  let account: String?
  var forgotten: Bool?
  var revoked: Bool?
}
