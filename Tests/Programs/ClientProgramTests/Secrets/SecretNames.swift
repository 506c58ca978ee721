@testable import LoopbackSupport

/// Rules about the names of stored values that may be secret.
enum SecretNames {
  /// The last words of the names of secrets, and of messages that contain secrets.
  private static let words: Set = [
    "token", "secret", "password", "passphrase", "verifier", "key", "code", "state", "nonce",
    "credential", "cookie", "assertion", "header", "parameter", "query", "body", "value",
  ]

  /// The types that print their content.
  private static let texts: Set = ["String", "Substring", "Character", "Data", "UInt8"]

  /// Values with a secret's name but no secret, with the reason.
  static let harmless = [
    "AccountRecord.Values: var serverNonce: String?": "a server's nonce, which proves nothing",
    "ProofServers.Known: var nonce: String?": "a server's nonce, which proves nothing",
    "Arguments: var values: [String : [String]]": "secrets are never among the words",
    "CallReport: let body: String?": "an answer, which the command prints",
    "CallReport: let headers: [String : String]": "an answer, which the command prints",
    "ClientEvent.Request.Purpose: case token(String)": "the name of a grant",
    "ClientAuthentication: let rawValue: String": "the name of a method",
    "Endpoints: var token: String": "the address of an endpoint",
    "Failure: let code: String": "an error's code",
    "ClaimsRequest: var idToken: [String : ClaimsRequest.Claim]": "names of claims",
    "KeyHint: let key: String": "a key of the keyboard",
    "SandboxClientDocuments.Answer: var body: Data": "a document that anyone may read",
    "SandboxStepUp: var acrValues: [String]": "names of logins",
    "TokenRefusal: var parameters: [(name: String, value: String)]": "of a challenge",
    "StepUpDemand: let acrValues: [String]": "names of logins",
    "TokenType: let rawValue: String": "the name of a type",
    "LaterMember: let stringValue: String": "the name of a member",
    "LoopbackRedirect: let query: String?": "from the redirect URI that was registered",
    "OAuthFault: let code: String": "an error's code",
    "MetadataMembers: let values: [String : JSONValue]": "a document that anyone may read",
    "Option: let value: String?": "a placeholder of the help",
    "Paging.Place: case token(parameter: String)": "the name of a parameter",
    "ParsedJSON.Name: let stringValue: String": "the name of a member",
    "Provider.Endpoints: var token: String": "the address of an endpoint",
    "SQOAuthError.Code: let rawValue: String": "an error's code",
    "SandboxOpenIDOptions: var acrValues: [String]": "names of authentication contexts",
    "SandboxMisbehaviour.Alteration: case value(String)": "a test's own text",
    "SandboxVisitor.Page: let body: String": "a page, which a test prints to see it",
    "SealedFile: let header: Data": "is stored unencrypted",
    "SignInOptions.Prompt: let rawValue: String": "a value of the parameter prompt",
    "SignInButton.Colors: let key: String": "the color of an image of a key",
    "IntrospectionOutages: var ofTokens: RecentValues<Data, IntrospectionOutages.Outage>":
      "digests of tokens, and errors",
  ]

  /// Returns whether a stored value is text or bytes with a secret's name.
  static func mayBeSecret(_ value: ModuleTypes.StoredValue) -> Bool {
    let isError = value.names.isSuperset(of: ["code", "message"])
    return !isError && !value.typeNames.isDisjoint(with: texts)
      && !value.declaration.contains("->")
      && value.names.contains { words.contains(lastWord(of: $0)) }
  }

  /// Returns the last word of a camel-case name in the singular: `token` of `accessTokens`.
  private static func lastWord(of name: String) -> String {
    let start = name.lastIndex(where: \.isUppercase) ?? name.startIndex
    let word = name[start...].lowercased()
    return word.hasSuffix("s") ? String(word.dropLast()) : word
  }
}
