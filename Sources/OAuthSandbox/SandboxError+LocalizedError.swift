#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

extension SandboxError: LocalizedError {
  /// What happened, in a sentence, which is what `localizedDescription` says.
  public var errorDescription: String? {
    switch self {
    case .portInUse(let port): "another program listens on port \(port)"
    case .system(let code):
      "the system does not give the sandbox what it needs: \(String(cString: strerror(code)))"
    case .notLoopback(let url):
      // The query may hold a code.
      "the visitor opens http on a loopback address only, and not \(url.prefix { $0 != "?" })"
    case .unexpectedAnswer(let answer): "the visitor did not understand an answer: \(answer)"
    }
  }
}
