public import Basics

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Why an operation of a ``Pipeline/Pipe`` brought nothing.
public enum PipeError: Error, Sendable {
  /// There is no valid token: the sign-in or the refresh failed, or cannot be had here.
  ///
  /// The API has not acted on the operation.
  case noAccess(SQOAuthError)
  /// The API answered, and not with a status of success.
  case refused(Refusal)
  /// The API did what was asked, and its answer is not the JSON that was expected.
  case unreadable(SQOAuthError)
  /// The task, or ``Pipeline/Pipe/cancel()``, ended the operation; the API may have acted on it.
  case cancelled
  /// No answer came within ``PipeConfiguration/timeout``; the API may have acted on the operation.
  case timedOut(SQOAuthError)
  /// The operation could not be asked for, or the connection failed.
  case failed(SQOAuthError)

  /// The error below this one, where there is one.
  public var cause: SQOAuthError? {
    switch self {
    case .noAccess(let error), .unreadable(let error), .timedOut(let error), .failed(let error):
      error
    case .refused, .cancelled: nil
    }
  }

  /// The answer of the API, where it is one that refuses.
  public var refusal: Refusal? {
    if case .refused(let refusal) = self { refusal } else { nil }
  }
}

extension PipeError {
  /// What an API answered instead of what was asked.
  public struct Refusal: Sendable, Hashable {
    /// The most of an answer's content that is kept, in bytes.
    public static let maximumBytes = 64 * 1024

    /// The status and the header fields.
    public let head: HTTPResponseHead
    /// The content, cut at ``maximumBytes``; empty where it was larger than the pipe allows.
    public let body: Data
    /// Why the token does not do, where the API said so.
    public let challenge: BearerChallenge?

    /// The status: 404, for example.
    public var status: Int { head.status }

    init(_ response: HTTPResponse, challenge: BearerChallenge? = nil) {
      head = response.head
      body = response.body.cut(at: Self.maximumBytes)
      self.challenge = challenge
    }
  }
}

extension PipeError: Redacted {
  /// What happened, in one line, without the content of an answer.
  public var description: String {
    switch self {
    case .noAccess(let error): "no access: \(error)"
    case .refused(let refusal): refusal.description
    case .unreadable(let error): "unreadable: \(error)"
    case .cancelled: "cancelled"
    case .timedOut(let error), .failed(let error): error.description
    }
  }
}

extension PipeError: LocalizedError {
  /// What happened, in a sentence, which is what `localizedDescription` says.
  ///
  /// It holds no content of the API's answer; ``refusal`` has that.
  public var errorDescription: String? {
    switch self {
    case .noAccess(let error): "there is no access: \(error.message)"
    case .refused(let refusal): refusal.description
    case .unreadable(let error), .timedOut(let error), .failed(let error): error.message
    case .cancelled: "the operation was cancelled"
    }
  }
}

extension PipeError.Refusal: Redacted {
  /// The status, and the challenge where there is one.
  public var description: String {
    let challenge = challenge.map { ": \($0)" } ?? ""
    return "the API answered with status \(status)\(challenge)"
  }
}
