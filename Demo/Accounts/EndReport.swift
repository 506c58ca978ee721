/// What `logout` and `revoke` did, for a program.
struct EndReport: Encodable {
  /// The account; `nil` where none was named and none was there.
  let account: String?
  var forgotten: Bool?
  var revoked: Bool?
}
