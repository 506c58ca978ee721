import SequencingOAuth

extension AuthorizationServer {
  /// Registers clients as the Model Context Protocol's conformance suite does: with a secret that
  /// the client did not ask for, and without `token_endpoint_auth_method`.
  func actLikeTheSuite() {
    change { [name] in
      $0.registration["client_secret"] = "\(name)-secret"
      $0.registration["token_endpoint_auth_method"] = .some(nil)
    }
  }
}
