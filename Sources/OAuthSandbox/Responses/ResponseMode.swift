/// The way in which the parameters of an authorization response reach the app, `response_mode`.
///
/// - SeeAlso: OAuth 2.0 Multiple Response Type Encoding Practices, section 2.1; OAuth 2.0 Form Post
///   Response Mode; JARM, section 2.3
enum ResponseMode: String, CaseIterable {
  case query
  case formPost = "form_post"
  case queryJWT = "query.jwt"
  case formPostJWT = "form_post.jwt"
  /// The signed form of the default mode; the default mode for a code is the query.
  case jwt

  var isSigned: Bool { [.queryJWT, .formPostJWT, .jwt].contains(self) }

  var isFormPost: Bool { [.formPost, .formPostJWT].contains(self) }
}

extension SandboxState {
  /// The response modes of this sandbox, with signed modes only if the options name algorithms.
  var responseModes: [ResponseMode] {
    let hasSigned = !options.authorizationResponseAlgorithms.isEmpty
    return ResponseMode.allCases.filter { mode in
      mode.isSigned ? hasSigned : !(hasSigned && options.requiresSignedAuthorizationResponses)
    }
  }

  /// Returns the response mode that an authorization request names, or the default if it names
  /// none or an unsupported one.
  func responseMode(of query: [SandboxParameter]) -> ResponseMode {
    let mode = query.value("response_mode").flatMap(ResponseMode.init)
    return mode.flatMap { responseModes.contains($0) ? $0 : nil } ?? .query
  }

  /// Checks that the sandbox supports the response mode of an authorization request.
  func checkResponseMode(of query: [SandboxParameter]) throws(OAuthFault) {
    let name = query.value("response_mode") ?? ResponseMode.query.rawValue
    guard responseModes.contains(where: { $0.rawValue == name }) else {
      let names = responseModes.map(\.rawValue).joined(separator: ", ")
      throw .invalidRequest("response_mode must be one of these: \(names).")
    }
  }
}
