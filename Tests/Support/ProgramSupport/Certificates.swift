package import Foundation
import TestSupport
import Testing

/// A private certificate authority with the certificates of a server and a client, in a folder for
/// one test.
package final class Certificates: Sendable {
  /// The content of the files, which openssl creates once for all tests.
  private static let files = Task { try await Authority().files() }

  package let folder: URL

  package init() async throws {
    folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    let files = try await Self.files.value
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for (name, content) in files { try content.write(to: folder.appending(path: name)) }
  }

  deinit {
    try? FileManager.default.removeItem(at: folder)
  }

  package func data(_ name: String) throws -> Data {
    try Data(contentsOf: folder.appending(path: name))
  }

  package func path(_ name: some StringProtocol) -> String {
    folder.appending(path: String(name)).path
  }
}

/// The authority that signs the certificates.
private struct Authority {
  let folder: TemporaryFolder

  init() async throws {
    folder = try TemporaryFolder()
    try await openssl(
      "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=Authority "
        + "-addext keyUsage=critical,keyCertSign,cRLSign -keyout @ca.key -out @ca.pem")
    try await issue("server", "subjectAltName=IP:127.0.0.1,DNS:localhost")
    try await issue("other", "subjectAltName=DNS:other.example")
    try await issue("client", "extendedKeyUsage=clientAuth")
    try await openssl(
      "x509 -req -in @server.csr -CA @ca.pem -CAkey @ca.key -CAcreateserial -days 0 "
        + "-extfile @server.ext -out @expired.pem")
  }

  func files() throws -> [String: Data] {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    return try Dictionary(
      uniqueKeysWithValues: names.map {
        ($0, try Data(contentsOf: URL(filePath: folder.file($0))))
      })
  }

  private func issue(_ name: String, _ extensions: String) async throws {
    // Python 3.13 demands this extension, as RFC 5280, section 4.2.1.1, does.
    let all = "authorityKeyIdentifier=keyid\n\(extensions)"
    try Data(all.utf8).write(to: URL(filePath: folder.file("\(name).ext")))
    try await openssl(
      "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=\(name) "
        + "-keyout @\(name).key -out @\(name).csr")
    try await openssl(
      "x509 -req -in @\(name).csr -CA @ca.pem -CAkey @ca.key -CAcreateserial -days 2 "
        + "-extfile @\(name).ext -out @\(name).pem")
  }

  /// Runs openssl.
  ///
  /// An argument that starts with `@` is a file of the folder.
  private func openssl(_ arguments: String) async throws {
    let words = arguments.split(separator: " ").map {
      $0.hasPrefix("@") ? folder.file(String($0.dropFirst())) : String($0)
    }
    let result = try await ChildProcess.run(["openssl"] + words)
    try #require(result.status == 0, "openssl: \(result.errors)")
  }
}
