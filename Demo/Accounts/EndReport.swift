/// The result of `logout` or `revoke`, as JSON for a program.
struct EndReport: Encodable {
  /// The account; `nil` if the command named none and the store had none.
  let account: String?
  var forgotten: Bool?
  var revoked: Bool?
}
