import SQBasics
import SQFoundation
import SequencingOAuth

/// An API's response and its parsed JSON; errors never quote a value of the content.
struct PipeAnswer: Sendable {
  let response: WebResponse
  /// The parsed content; `nil` if it is not JSON, but the app's decoder may still accept it.
  let json: JSONValue?
  /// The JSON for the app's decoder; strings with too many combining marks in a row are repaired.
  ///
  /// Such an answer is not rejected, because one user's text must not hide all other texts.
  private let text: Data
  private let decoder: JSONDecoder

  /// Parses a response; an empty response counts as `null`.
  ///
  /// A long response is parsed with pauses for other tasks. The limits are checked before a decoder
  /// starts, because the decoder's work grows with the number of values times their depth.
  init(
    _ response: WebResponse, _ decoder: JSONDecoder, _ interruption: Interruption
  ) async throws(PipeError) {
    self.response = response
    self.decoder = decoder
    let body = response.body.isEmpty ? Data("null".utf8) : response.body
    do throws(JSONFailure) {
      (json, text) = try await JSONReader.repairedWithPauses(of: body, .answer) {
        Task.isCancelled || interruption.isRaised
      }
    } catch .malformed where decoder.allowsJSON5 || decoder.assumesTopLevelDictionary {
      (json, text) = (nil, body)
    } catch .cancelled {
      throw .cancelled
    } catch {
      throw Self.unreadable(error.description(of: Self.name))
    }
  }

  /// Returns the content as one of the app's types.
  ///
  /// This does not pause: the app's decoder and the app's type cannot be interrupted.
  func value<Value: Decodable>(_ type: Value.Type) throws(PipeError) -> Value {
    if let value = json?.undecoded(type) { return value }
    do {
      return try decoder.decode(type, from: text)
    } catch let error as DecodingError {
      throw Self.unreadable("the \(Self.name) is not JSON of the expected form\(Self.field(error))")
    } catch {
      // The error comes from one of the app's types and may have any reason.
      throw Self.unreadable("the app's type could not be decoded from the \(Self.name)", error)
    }
  }

  private static let name = "API's answer"

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
  /// Returns the value if `type` is a type of plain JSON; returns `nil` for types that need a
  /// decoder.
  fileprivate func undecoded<Value>(_ type: Value.Type) -> Value? {
    switch type {
    case is JSONValue.Type: self as? Value
    case is [JSONValue].Type: array as? Value
    case is [String: JSONValue].Type: object as? Value
    default: nil
    }
  }
}
