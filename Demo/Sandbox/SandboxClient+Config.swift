import OAuthSandbox
import SQBasics
import SQFoundation
import SequencingOAuth

// The clients of a configuration file, with the names of RFC 7591.
extension SandboxClient {
  private static let names = [
    "client_id", "client_secret", "client_name", "redirect_uris", "post_logout_redirect_uris",
    "backchannel_logout_uri", "scope", "grant_types", "token_endpoint_auth_method", "jwks",
  ]
  private static let methods = Authentication.allCases.map(\.rawValue)

  /// Returns the clients of a file; `nil` if it names none.
  static func list(
    in file: ConfigObject, scopes: [String]
  ) throws(Failure) -> [SandboxClient]? {
    var clients: [SandboxClient] = []
    guard let objects = try file.objects("clients", names) else { return nil }
    for object in objects {
      let client = try SandboxClient(object, scopes: scopes)
      guard !clients.contains(where: { $0.id == client.id }) else {
        throw object.wrong("client_id", "is the identifier of an earlier client")
      }
      clients.append(client)
    }
    guard !clients.isEmpty else { throw file.wrong("clients", "is empty: no client could sign in") }
    return clients
  }

  private init(_ object: ConfigObject, scopes: [String]) throws(Failure) {
    self.init(
      id: try object.required("client_id"), secret: try object.text("client_secret"),
      name: try object.text("client_name"))
    if let uris = try Self.addresses(object, "redirect_uris") { redirectURIs = uris }
    postLogoutRedirectURIs = try Self.addresses(object, "post_logout_redirect_uris") ?? []
    backchannelLogoutURI = try Self.loopbackAddress(object, "backchannel_logout_uri")
    if let scope = try object.text("scope") {
      self.scopes = try Self.known(scope, of: object, among: scopes)
    }
    grantTypes = try Self.grantTypes(object)
    keys = try Self.keys(object)
    if !keys.isEmpty { authentication = [.privateKeyJWT] }
    let method = try object.choice("token_endpoint_auth_method", among: Self.methods)
    if let method = method.flatMap(Authentication.init(rawValue:)) { authentication = [method] }
    try checkAuthentication(object)
  }

  private static func addresses(
    _ object: ConfigObject, _ name: String
  ) throws(Failure) -> [String]? {
    let addresses = try object.texts(name)
    for (index, address) in (addresses ?? []).enumerated() {
      // RFC 6749, section 3.1.2, requires an absolute URI without a fragment.
      let scheme = URL(string: address)?.scheme?.lowercased()
      guard let scheme, !address.contains("#") else {
        throw object.wrong(
          "\(name)[\(index)]",
          "must be an absolute URI without a fragment, such as http://127.0.0.1/callback")
      }
      guard !RedirectURIs.schemesOfBrowsers.contains(scheme) else {
        throw object.wrong("\(name)[\(index)]", "has a scheme that belongs to browsers")
      }
    }
    return addresses
  }

  private static func loopbackAddress(
    _ object: ConfigObject, _ name: String
  ) throws(Failure) -> String? {
    guard let address = try object.text(name) else { return nil }
    guard LoopbackURL(address) != nil else {
      throw object.wrong(
        name, "must be an http address of this machine, such as http://127.0.0.1:8080/")
    }
    return address
  }

  private static func known(
    _ scope: String, of object: ConfigObject, among scopes: [String]
  ) throws(Failure) -> Set<String> {
    let names = scope.split(separator: " ").map(String.init)
    for name in names where !scopes.contains(name) {
      throw object.wrong(
        "scope",
        "has \"\(name.onScreen)\", which is not a scope of the sandbox"
          + Suggestion.question(name, among: scopes))
    }
    return Set(names)
  }

  private static func grantTypes(_ object: ConfigObject) throws(Failure) -> Set<String>? {
    guard let names = try object.texts("grant_types") else { return nil }
    guard !names.isEmpty else { throw object.wrong("grant_types", "is empty: no grant is left") }
    let grants = TokenEndpoint.ownGrantTypes
    for (index, name) in names.enumerated() where !grants.contains(name) {
      throw object.wrong(
        "grant_types[\(index)]",
        "is not one of \(grants.joined(separator: ", "))" + Suggestion.question(name, among: grants)
      )
    }
    return Set(names)
  }

  private static func keys(_ object: ConfigObject) throws(Failure) -> [SandboxJSON] {
    guard let value = object.members["jwks"] else { return [] }
    let set = try ConfigObject(value, at: object.place("jwks"), ["keys"])
    guard let keys = set.members["keys"]?.array, keys.allSatisfy({ $0.object != nil }) else {
      throw set.wrong("keys", "is not a list of JSON Web Keys")
    }
    for (index, key) in keys.enumerated() where JSONWebKey(key) == nil {
      throw set.wrong(
        "keys[\(index)]", "is not a complete public key that can verify a signature")
    }
    return try keys.map { key throws(Failure) in try SandboxJSON(key) }
  }

  /// Throws if the client could never authenticate, or could not use one of its grant types.
  private func checkAuthentication(_ object: ConfigObject) throws(Failure) {
    let needsSecret = !authentication.isDisjoint(with: [.basic, .post, .clientSecretJWT])
    let method = "token_endpoint_auth_method"
    guard authentication != [.none] || secret == nil else {
      throw object.wrong(method, "is none, but the client has a client_secret")
    }
    guard authentication != [.none] || grantTypes?.contains("client_credentials") != true else {
      throw object.wrong(
        "grant_types", "has client_credentials, which needs a client_secret or jwks")
    }
    let usesRedirect = grantTypes?.contains("authorization_code") ?? false
    guard !usesRedirect || !redirectURIs.isEmpty else {
      throw object.wrong("redirect_uris", "is empty, but authorization_code needs one")
    }
    guard !needsSecret || secret != nil else {
      throw object.wrong(method, "needs a client_secret")
    }
    guard authentication != [.privateKeyJWT] || !keys.isEmpty else {
      throw object.wrong(method, "needs the client's keys in jwks")
    }
  }
}
