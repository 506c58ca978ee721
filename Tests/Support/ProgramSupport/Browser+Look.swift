import Foundation

/// The colours that a user prefers.
package enum ColorScheme: String, Sendable, CaseIterable {
  case light
  case dark
}

extension Browser {
  /// Sets the value of `prefers-color-scheme` for pages.
  package func prefer(_ scheme: ColorScheme) async throws {
    struct Command: Encodable {
      let cmd = "Emulation.setEmulatedMedia"
      let params: [String: [[String: String]]]
    }
    let feature = ["name": "prefers-color-scheme", "value": scheme.rawValue]
    try await driver.send(
      "POST", "/goog/cdp/execute", Command(params: ["features": [feature]]))
  }

  /// Sets the size of the page itself in CSS pixels, because a window cannot be as narrow as a
  /// telephone.
  package func resize(width: Int, height: Int) async throws {
    struct Command: Encodable {
      let cmd = "Emulation.setDeviceMetricsOverride"
      let params: Metrics
    }
    struct Metrics: Encodable {
      let width: Int
      let height: Int
      let deviceScaleFactor = 1
      let mobile = false
    }
    try await driver.send(
      "POST", "/goog/cdp/execute", Command(params: Metrics(width: width, height: height)))
  }

  /// Saves a picture of the page in the folder that `SQ_SCREENSHOTS` names, if it is set.
  package func screenshot(_ name: String) async throws {
    guard let folder = ProcessInfo.processInfo.environment["SQ_SCREENSHOTS"] else { return }
    let image = try await driver.send("GET", "/screenshot", as: String.self)
    let file = URL(filePath: folder).appending(path: "\(name).png")
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true)
    try Data(base64Encoded: image)?.write(to: file)
  }
}
