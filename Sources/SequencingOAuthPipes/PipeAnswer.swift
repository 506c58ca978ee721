import SQBasics
import SequencingOAuth

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// An API's answer whose JSON keeps the limits of an answer; an error never quotes the content.
struct PipeAnswer: Sendable {
  let response: HTTPResponse
  /// The content; `nil` if the app's decoder reads more than JSON, and the content is that.
  let json: JSONValue?
  private let decoder: JSONDecoder

  /// Reads an answer, of which an empty one counts as `null`; a long one is read with pauses.
  ///
  /// The limits hold before a decoder begins, whose work grows with the values times their depth.
  init(
    _ response: HTTPResponse, _ decoder: JSONDecoder, _ interruption: Interruption
  ) async throws(PipeError) {
    self.response = response
    self.decoder = decoder
    do throws(JSONFailure) {
      json = try await JSONReader.valueWithPauses(of: Self.text(response), .answer) {
        Task.isCancelled || interruption.isRaised
      }
    } catch .malformed where decoder.allowsJSON5 || decoder.assumesTopLevelDictionary {
      json = nil
    } catch .cancelled {
      throw .cancelled
    } catch {
      throw Self.unreadable(error.description(of: Self.name))
    }
  }

  /// The content as one of the app's types.
  ///
  /// It is decoded at once: the app's decoder and the app's type cannot be interrupted.
  func value<Value: Decodable>(_ type: Value.Type) throws(PipeError) -> Value {
    if let value = json?.undecoded(type) { return value }
    do {
      return try decoder.decode(type, from: Self.text(response))
    } catch let error as DecodingError {
      throw Self.unreadable("the \(Self.name) is not JSON of the expected form\(Self.field(error))")
    } catch {
      // The error comes from a type of the app, which has its own reasons.
      throw Self.unreadable("the app's type could not be decoded from the \(Self.name)", error)
    }
  }

  private static let name = "API's answer"

  private static func text(_ response: HTTPResponse) -> Data {
    response.body.isEmpty ? Data("null".utf8) : response.body
  }

  private static func unreadable(_ message: String, _ cause: (any Error)? = nil) -> PipeError {
    .unreadable(SQOAuthError(.invalidResponse, message, cause: cause))
  }

  private static func field(_ error: DecodingError) -> String {
    switch error {
    case .typeMismatch(_, let context), .valueNotFound(_, let context),
      .dataCorrupted(let context), .keyNotFound(_, let context):
      guard let key = context.codingPath.first else { return "" }
      return ": check \"\(key.stringValue.printable)\""
    @unknown default:
      return ""
    }
  }
}

extension JSONValue {
  /// The value, its elements or its members, if that is the type; it need not be decoded then.
  fileprivate func undecoded<Value>(_ type: Value.Type) -> Value? {
    switch type {
    case is JSONValue.Type: self as? Value
    case is [JSONValue].Type: array as? Value
    case is [String: JSONValue].Type: object as? Value
    default: nil
    }
  }
}
