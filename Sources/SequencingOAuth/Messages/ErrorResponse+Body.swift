#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension ErrorResponse {
  /// Reads the error object of RFC 6749, section 5.2; `nil` where the body is none.
  ///
  /// What was sent is taken out of what the server says of it.
  init?(body: Data, removing secrets: SentSecrets) {
    guard let body: Body = try? JSONMessage.decode(body, as: "error response"),
      !body.error.isEmpty
    else { return nil }
    self.init(
      error: secrets.removed(from: body.error),
      errorDescription: body.errorDescription.map(secrets.removed(from:)),
      errorURI: body.errorURI.map(secrets.removed(from:)))
  }

  private struct Body: Decodable {
    let error: String
    let errorDescription: String?
    let errorURI: String?

    enum CodingKeys: String, CodingKey {
      case error
      case errorDescription = "error_description"
      case errorURI = "error_uri"
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      error = try container.decode(String.self, forKey: .error)
      // The texts only help a developer; one of another type does not hide the code.
      errorDescription = try? container.decode(String.self, forKey: .errorDescription)
      errorURI = try? container.decode(String.self, forKey: .errorURI)
    }
  }
}
