import Foundation
import TestSupport

extension Browser {
  /// The address of the current page.
  package var url: String {
    get async throws { try await driver.send("GET", "/url", as: String.self) }
  }

  /// The source of the page in its current state.
  package var source: String {
    get async throws { try await driver.send("GET", "/source", as: String.self) }
  }

  /// Opens an address, and returns when the page has loaded.
  package func go(to url: String) async throws {
    try await driver.send("POST", "/url", ["url": url])
  }

  /// Goes back to the previous page of the tab, and returns when the page has loaded.
  package func goBack() async throws {
    try await driver.send("POST", "/back")
  }

  /// Opens an address in another tab, runs a body there, and returns to the first tab.
  package func inAnotherTab(at url: String, _ body: () async throws -> Void) async throws {
    let first = try await driver.send("GET", "/window", as: String.self)
    let other = try await driver.send("POST", "/window/new", ["type": "tab"], as: Tab.self)
    try await driver.send("POST", "/window", ["handle": other.handle])
    try await go(to: url)
    try await body()
    try await driver.send("POST", "/window", ["handle": first])
  }

  private struct Tab: Decodable {
    let handle: String
  }

  /// Clicks the first element that a CSS selector finds, once it can be clicked.
  package func click(_ selector: String) async throws {
    try await act(on: selector) { try await self.driver.send("POST", "\($0)/click") }
  }

  /// Replaces the text of a field.
  package func type(_ text: String, into selector: String) async throws {
    try await act(on: selector) { element in
      try await self.driver.send("POST", "\(element)/clear")
      try await self.driver.send("POST", "\(element)/value", ["text": text])
    }
  }

  /// Returns the text that a user sees in the first element that a selector finds.
  package func text(of selector: String) async throws -> String {
    try await act(on: selector) {
      try await self.driver.send("GET", "\($0)/text", as: String.self)
    }
  }

  /// Returns the role of an element for assistive software.
  package func accessibleRole(of selector: String) async throws -> String {
    try await act(on: selector) {
      try await self.driver.send("GET", "\($0)/computedrole", as: String.self)
    }
  }

  /// Returns the name of an element for assistive software.
  package func accessibleName(of selector: String) async throws -> String {
    try await act(on: selector) {
      try await self.driver.send("GET", "\($0)/computedlabel", as: String.self)
    }
  }

  /// Waits until an element exists.
  package func wait(for selector: String) async throws {
    try await act(on: selector) { _ in }
  }

  /// Returns whether an element exists now.
  package func has(_ selector: String) async throws -> Bool {
    try await !driver.send(
      "POST", "/elements", ["using": "css selector", "value": selector], as: [[String: String]].self
    ).isEmpty
  }

  /// Waits until the address begins with a text, and returns the address.
  package func arrive(at start: String) async throws -> String {
    try await eventually("the browser arrives at \(start)") {
      let url = try await self.url
      return url.hasPrefix(start) ? url : nil
    }
  }

  /// Runs a script in the page, and returns the value of its `return`.
  package func run<Value: Decodable & Sendable>(
    _ script: String, as type: Value.Type
  ) async throws -> Value {
    try await driver.send("POST", "/execute/sync", Script(script: script), as: type)
  }

  private struct Script: Encodable {
    let script: String
    let args: [String] = []
  }

  /// Finds an element and acts on it, and tries again while the page is not ready.
  private func act<Value: Sendable>(
    on selector: String, _ action: @Sendable (String) async throws -> Value
  ) async throws -> Value {
    try await eventually("\(selector) can be used") {
      do {
        let element = try await self.driver.send(
          "POST", "/element", ["using": "css selector", "value": selector],
          as: [String: String].self)
        guard let id = element.values.first else { return nil }
        return try await action("/element/\(id)")
      } catch let error as WebDriverError where error.isPassing {
        return nil
      }
    }
  }
}
