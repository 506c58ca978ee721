import SQCrypto
import SQFoundation
import SequencingOAuth

/// Functions that read the files of certificates and private keys that options name.
enum PEMFile {
  /// The largest size of a file in bytes; the system's file of authorities has about 250 kB.
  private static let limit = 4 << 20

  /// Reads a file with at least one certificate in PEM.
  static func certificates(at path: String, of option: Option) throws(Failure) -> Data {
    let content = try read(path, option) { _ in false }
    guard CertificateFlaw(in: content) != .noCertificate else {
      throw hasNoCertificate(content, path, option)
    }
    if let position = CertificateFlaw.firstDamaged(in: content) {
      throw .usage(
        "\(name(of: option, path)) cannot be read from certificate \(position) on; it may be cut "
          + "off"
      )
    }
    return content
  }

  /// Reads a certificate and its private key, which may be in the same file.
  static func pair(
    at path: String, keyAt keyPath: String?
  ) throws(Failure) -> HTTPTransportConfiguration.ClientCertificate {
    let chain = try read(path, .clientCertificate, isKey: hasKey)
    let key =
      if let keyPath { try read(keyPath, .certificateKey) { _ in true } } else { chain }
    guard let flaw = CertificateFlaw(in: chain + Data("\n".utf8) + key) else {
      return HTTPTransportConfiguration.ClientCertificate(chain: chain, privateKey: key)
    }
    let file = keyPath.map { name(of: .certificateKey, $0) } ?? name(of: .clientCertificate, path)
    switch flaw {
    case .noCertificate:
      throw hasNoCertificate(chain, path, .clientCertificate)
    case .encryptedKey:
      throw .usage(
        "the private key in \(file) is encrypted; 'openssl pkey -in FILE -out PLAIN' decrypts it, "
          + "and PLAIN must be readable by you only (chmod 600)")
    case .noKey:
      throw .usage(
        "\(file) has no private key in PEM"
          + (keyPath == nil ? "; name the key's file with \(Option.certificateKey.name)" : ""))
    case .otherKey:
      throw .usage("the private key in \(file) belongs to another certificate")
    }
  }

  private static func read(
    _ path: String, _ option: Option, isKey: ([UInt8]) -> Bool
  ) throws(Failure) -> Data {
    try Failure.reading("\(option.name) \(path)") { () throws(FileReading.ReadError) in
      Data(try FileReading.content(of: path, atMost: limit, isKey: isKey))
    }
  }

  private static func hasKey(_ bytes: [UInt8]) -> Bool {
    String(decoding: bytes, as: UTF8.self).contains("PRIVATE KEY-----")
  }

  private static func name(of option: Option, _ path: String) -> String {
    "\(option.name) \(path.onScreen)"
  }

  /// Returns the failure for a file without a certificate in PEM; for DER and PKCS #12, it names
  /// the command that converts the file.
  private static func hasNoCertificate(
    _ content: Data, _ path: String, _ option: Option
  ) -> Failure {
    let file = name(of: option, path)
    // A certificate in DER is a sequence that begins with a sequence; PKCS #12 begins with version
    // 3.
    return switch [UInt8](content.prefix(7)) {
    case []:
      .usage("\(file) is empty")
    case let start where start.first == 0x30 && start.dropFirst(4).first == 0x30:
      .usage(
        "\(file) has a certificate in DER, and PEM is needed; 'openssl x509 -inform der -in FILE "
          + "-out FILE.pem' converts it")
    case let start where start.first == 0x30 && start.suffix(3) == [2, 1, 3]:
      .usage(
        "\(file) is in PKCS #12, and PEM is needed; 'openssl pkcs12 -nodes -in FILE -out FILE.pem' "
          + "converts it")
    default:
      .usage("\(file) has no certificate in PEM")
    }
  }
}
