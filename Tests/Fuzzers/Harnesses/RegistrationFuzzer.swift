import FoundationEssentials

@testable import SQBasics
@testable import SequencingOAuth

extension Fuzzer {
  /// A fuzzer for the response to a client that registers itself.
  static let registration = Fuzzer("registration") { input in
    let reader = RegistrationResponse(
      issuer: "https://id.example", secrets: SentSecrets([secret]),
      now: Date(timeIntervalSince1970: 1_750_000_000))
    let registration: ClientRegistration
    do throws(SQOAuthError) {
      let members = try reader.members(
        of: WebResponse(
          status: 201, headers: ["Content-Type": "application/json"], body: input))
      registration = try reader.registration(in: members)
    } catch {
      try require(error.description.isHarmless, "the error shows as \(error.description)")
      return
    }
    try check(registration)
    try checkSilence(after: registration, reader)
    let written = try JSONEncoder().encode(registration)
    try require(
      (try? JSONDecoder().decode(ClientRegistration.self, from: written)) == registration,
      "it reads differently when it is written again")
  }

  private static let secret = "s3cr3t-of-the-request"

  /// Requires that a response with only the client's ID keeps all earlier values of the client.
  private static func checkSilence(
    after registration: ClientRegistration, _ reader: RegistrationResponse
  ) throws {
    let same = try reader.registration(
      in: ["client_id": .string(registration.clientID)], after: registration)
    try require(
      same.clientSecret == registration.clientSecret
        && same.clientSecretExpirationDate == registration.clientSecretExpirationDate
        && same.clientAuthentication == registration.clientAuthentication
        && same.redirectURIs == registration.redirectURIs && same.scope == registration.scope
        && same.management == registration.management,
      "what an answer leaves out is lost")
  }

  private static func check(_ registration: ClientRegistration) throws {
    try require(!registration.clientID.isEmpty, "an empty identifier")
    for text in [registration.clientID, registration.clientSecret ?? ""] {
      try require(text.isASCII(withSpaces: true), "an ID or a secret with forbidden characters")
    }
    try require(registration.description.isHarmless, "it shows as \(registration)")
    let shown = registration.clientID + registration.issuer
    if let secret = registration.clientSecret, secret.utf8.count > 8, !shown.contains(secret) {
      try require(!registration.description.contains(secret), "it shows the secret")
    }
    for name in ["client_secret", "registration_access_token"] {
      try require(registration.members[name] == nil, "the members have the \(name)")
    }
    if let management = registration.management {
      try require(management.uri.scheme?.lowercased() == "https", "a token would go in clear")
      try require(!management.accessToken.isEmpty, "an empty token")
    }
    let metadata = ClientMetadata(redirectURIs: ["https://app.example/cb"])
    if registration.fits(metadata) {
      try require(
        registration.redirectURIs.count == 1
          && registration.redirectURIs[0].hasSameBytes(as: "https://app.example/cb"),
        "other redirect URIs count as the client's")
    }
  }
}
