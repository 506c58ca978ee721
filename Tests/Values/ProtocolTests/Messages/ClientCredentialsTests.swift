import Foundation
import Testing

@testable import SequencingOAuth

/// What the message of an error says about the client's authentication.
@Suite struct ClientCredentialsTests {
  private static let now = Date(timeIntervalSince1970: 1_800_000_000)

  private func message(
    _ code: SQOAuthError.Code, _ client: ClientCredentials, clockLead: TimeInterval = 0
  ) throws -> String {
    let members: [String: JSONValue] = ["error": .string(code.rawValue)]
    let response = WebResponse(
      status: 400,
      headers: ["Date": Self.text(Self.now.addingTimeInterval(-clockLead))])
    let error = SQOAuthError(
      code, "refused", response: ErrorResponse(members: members, removing: SentSecrets([])),
      status: 400)
    return client.explaining(error, after: response, at: Self.now).message
  }

  private static func text(_ date: Date) -> String {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(identifier: "GMT")
    formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    return formatter.string(from: date)
  }

  private func signing(isAudienceFixed: Bool = false) -> ClientCredentials {
    ClientCredentials(
      id: "c", secret: nil, authentication: .privateKeyJWT, keyID: "key-1",
      isAudienceFixed: isAudienceFixed, listedMethods: ["private_key_jwt"])
  }

  @Test func `an invalid_client error names the key, and assertionAudience if it can be set`()
    throws
  {
    let usual = try message(.invalidClient, signing())
    #expect(usual.contains("\"key-1\"") && usual.contains("assertionAudience"))
    let strict = try message(.invalidClient, signing(isAudienceFixed: true))
    #expect(strict.contains("\"key-1\"") && !strict.contains("assertionAudience"))
  }

  @Test func `the error after invalid_request has no advice about the client's key`() throws {
    for isAudienceFixed in [true, false] {
      let text = try message(.invalidRequest, signing(isAudienceFixed: isAudienceFixed))
      #expect(text == "refused")
    }
  }

  @Test(arguments: [
    (259_203.0, "259203 s ahead of"), (-172_802.0, "172802 s behind"), (3_600.0, nil),
  ])
  func `a clock difference of more than a day is given as the reason for invalid_client`(
    lead: Double, words: String?
  ) throws {
    let text = try message(.invalidClient, signing(), clockLead: lead)
    #expect(text.contains("correct the clock") == (words != nil))
    #expect(text.contains("key-1") == (words == nil))
    if let words { #expect(text.contains(words)) }
    // A client that authenticates with a secret sends no time, so its clock does not matter.
    let secret = ClientCredentials(id: "c", secret: "s", authentication: .post)
    #expect(try !message(.invalidClient, secret, clockLead: lead).contains("clock"))
  }

  @Test(arguments: [
    (ClientAuthentication.publicClient, ["private_key_jwt"], "clientKey"),
    (.post, ["private_key_jwt", "client_secret_basic"], "client_secret_basic"),
    (.basicUnescaped, ["client_secret_post"], "client_secret_post"),
  ])
  func `if the server does not list the client's method, the error names the listed ones`(
    method: ClientAuthentication, listed: [String], word: String
  ) throws {
    let client = ClientCredentials(
      id: "c", secret: method == .publicClient ? nil : "s", authentication: method,
      listedMethods: listed)
    let text = try message(.invalidClient, client)
    #expect(text.contains("the server lists: \(listed.joined(separator: ", "))"))
    #expect(text.contains(word))
    #expect(text.contains("clientKey") == listed.contains("private_key_jwt"))
  }

  @Test(arguments: [ClientAuthentication.basic, .basicUnescaped])
  func `an invalid_client error says that the client's secret is empty`(
    method: ClientAuthentication
  ) throws {
    let client = ClientCredentials(id: "c", secret: "", authentication: method)
    #expect(try message(.invalidClient, client).contains("the client secret is empty"))
  }

  @Test(arguments: [nil, [], ["client_secret_basic", "none"]])
  func `if the server may support Basic, an invalid_client error suggests client_secret_post`(
    listed: [String]?
  ) throws {
    let client = ClientCredentials(
      id: "c", secret: "s", authentication: .basicUnescaped, listedMethods: listed)
    #expect(try message(.invalidClient, client).contains("client_secret_post"))
  }
}
