import Foundation
import SQCrypto
import SQLoopback
import SequencingOAuth

@testable import TestSupport

/// The rules for all requests of a client together, which hold in every scenario.
struct PartyAudit {
  private let visits: [Visit]
  private(set) var faults: [String] = []

  init(_ visits: [Visit]) {
    self.visits = visits
    checkNames()
    checkTokens()
    checkProofs()
    checkResources()
  }

  private mutating func expect(_ condition: Bool, _ rule: String, _ visit: Visit) {
    guard !condition else { return }
    faults.append(visit.fault(rule))
  }

  /// Checks that no name that one authorization server made reaches the other server.
  private mutating func checkNames() {
    for visit in visits where visit.server != "resource" {
      let other = visit.server == "first" ? "second" : "first"
      for kind in ["client", "secret", "code", "token", "refresh"] {
        expect(!visit.text.contains("\(other)-\(kind)"), "a \(kind) of another server", visit)
      }
    }
  }

  /// Checks that access tokens go to the resource only, not in a URL and never with a request for
  /// metadata, that refresh tokens go to token endpoints only, and client secrets also to the
  /// address of a registration, in updates.
  private mutating func checkTokens() {
    for visit in visits {
      let hasToken = visit.text.contains("-token-")
      let isAllowed = visit.server == "resource" && !visit.path.contains(".well-known")
      expect(!hasToken || isAllowed, "an access token", visit)
      expect(!visit.request.target.contains("-token-"), "an access token in a URL", visit)
      let isTokenEndpoint = visit.server != "resource" && visit.path.hasSuffix("/token")
      let isUpdate =
        visit.server != "resource" && visit.path == "/manage" && visit.request.method == "PUT"
      expect(
        !visit.text.contains("-refresh-") || isTokenEndpoint, "a refresh token", visit)
      expect(
        !visit.text.contains("-secret") || isTokenEndpoint || isUpdate, "a client secret", visit)
    }
  }

  /// Checks that each proof is for one request and for the token in the same request.
  private mutating func checkProofs() {
    var seen: Set<String> = []
    for visit in visits {
      guard visit.proof != nil else {
        expect(visit.scheme != "dpop", "a bound token without a proof", visit)
        continue
      }
      guard let proof = visit.sentProof, let id = proof.id else {
        expect(false, "an unreadable proof", visit)
        continue
      }
      expect(seen.insert(id).inserted, "a proof that was sent before", visit)
      expect(proof["htm"] == visit.request.method, "htm", visit)
      expect(proof["htu"].map { $0.hasSuffix(visit.path) } == true, "htu", visit)
      let digest = visit.token.map(Self.digest)
      expect(proof.tokenDigest == (visit.server == "resource" ? digest : nil), "ath", visit)
    }
  }

  private static func digest(_ token: String) -> String {
    Base64URL.encode(Digest.sha256(token))
  }

  /// Checks that every authorization and token request names one resource: an absolute URL without
  /// a fragment.
  private mutating func checkResources() {
    for visit in visits where visit.server != "resource" {
      guard visit.path.hasSuffix("/authorize") || visit.path.hasSuffix("/token") else { continue }
      let resources = visit.query["resource"] ?? visit.form["resource"] ?? []
      expect(resources.count == 1, "one resource", visit)
      let url = resources.first.flatMap(URL.init(string:))
      expect(url?.scheme != nil && url?.fragment == nil, "a resource that is a URL", visit)
    }
  }
}
