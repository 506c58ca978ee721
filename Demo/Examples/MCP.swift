// A client of the Model Context Protocol (MCP) that knows nothing but a server's address.
//
//   swift run --package-path Demo/Examples mcp https://mcp.example.com/mcp
//   swift run --package-path Demo/Examples mcp https://mcp.example.com/mcp add '{"a": 2, "b": 3}'
//
// The first command lists the server's tools, the second one calls one. The SDK finds the server's
// authorization server, registers this program there, and signs the user in with a browser. Further
// runs, also at the same time, use the account that is kept in an encrypted file.
//
// The environment variable CLIENT_ID is the address of the program's metadata document, if it has
// one.

import Foundation
import SequencingOAuth
import SequencingOAuthDiscovery

struct MCPError: Error, CustomStringConvertible {
  let description: String
}

extension String {
  /// The lines of the text without characters that control a terminal or hide text; a server may
  /// send any.
  var onScreen: String {
    String(
      unicodeScalars.filter { scalar in
        switch scalar.properties.generalCategory {
        case .control: scalar == "\n" || scalar == "\t"
        case .format, .lineSeparator, .paragraphSeparator: false
        default: true
        }
      })
  }
}

/// The answer to one call: JSON, or a stream of events, which is read while it comes.
actor MCPAnswer {
  private(set) var result: [String: Any]?
  private var rest = Data()
  private var event: [String] = []

  /// Takes a piece of the response; the first piece of each attempt is empty.
  func receive(_ head: WebResponseHead, _ piece: Data) throws {
    guard !piece.isEmpty, head.status == 200 else { return }
    rest += piece
    guard head.headers["Content-Type"]?.hasPrefix("text/event-stream") == true else { return }
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      let line = String(decoding: rest[..<end], as: UTF8.self).trimmingCharacters(in: ["\r"])
      rest = Data(rest[(end + 1)...])
      if line.hasPrefix("data:") { event.append(String(line.dropFirst("data:".count))) }
      guard line.isEmpty, !event.isEmpty else { continue }
      try read(Data(event.joined(separator: "\n").utf8))
      event = []
    }
  }

  /// Reads the content of a response that was not a stream of events.
  func end() throws {
    if result == nil, !rest.isEmpty { try read(rest) }
  }

  private func read(_ data: Data) throws {
    guard let message = try JSONSerialization.jsonObject(with: data) as? [String: Any] else {
      throw MCPError(description: "the server's message is not a JSON object")
    }
    if let error = message["error"] as? [String: Any] {
      throw MCPError(description: error["message"] as? String ?? "the call failed")
    }
    if let result = message["result"] as? [String: Any] { self.result = result }
    if let progress = (message["params"] as? [String: Any])?["progress"] {
      print("… \("\(progress)".onScreen)")
    }
  }

  /// The lines to show for the result of a call.
  func lines() throws -> [String] {
    guard let result else { throw MCPError(description: "the server's answer has no result") }
    let tools = (result["tools"] as? [[String: Any]] ?? []).map {
      "\($0["name"] ?? "?"): \($0["description"] ?? "")"
    }
    let content = (result["content"] as? [[String: Any]] ?? []).map {
      $0["text"] as? String ?? "(\($0["type"] ?? "something") without a text)"
    }
    guard result["isError"] as? Bool != true else {
      throw MCPError(description: content.joined(separator: "\n"))
    }
    return tools + content
  }
}

/// Calls a method of the server: one HTTP request.
func call(
  _ method: String, _ parameters: [String: Any], name: String? = nil, at url: String,
  by client: ResourceClient
) async throws -> [String] {
  let version = "2026-07-28"
  var parameters = parameters
  parameters["_meta"] = [
    "io.modelcontextprotocol/protocolVersion": version,
    "io.modelcontextprotocol/clientInfo": ["name": "mcp-example", "version": "1"],
    "io.modelcontextprotocol/clientCapabilities": [String: Any](), "progressToken": "1",
  ]
  var request = try WebRequest(
    method: "POST", url: url,
    headers: [
      "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
      "MCP-Protocol-Version": version, "Mcp-Method": method,
    ])
  if let name { request.headers["Mcp-Name"] = name }
  request.body = .bytes(
    try JSONSerialization.data(
      withJSONObject: ["jsonrpc": "2.0", "id": 1, "method": method, "params": parameters]))
  let answer = MCPAnswer()
  request.destination = .stream { try await answer.receive($0, $1) }
  // A tool may take long, so the request as a whole has no time limit. The limit for silence stays,
  // because the server sends a comment every few seconds.
  request.timeout = nil
  let response = try await client.send(request)
  guard response.status == 200 else {
    throw MCPError(description: "the server's status is \(response.status)")
  }
  try await answer.end()
  return try await answer.lines()
}

/// Prints a line to standard error, because standard output is for the tool's answer.
func complain(_ line: String) {
  FileHandle.standardError.write(Data("\(line.onScreen)\n".utf8))
}

let arguments = CommandLine.arguments.dropFirst()
guard let url = arguments.first else {
  complain("usage: mcp URL [TOOL [ARGUMENTS]]")
  exit(2)
}

do {
  let service = "com.example.mcp"
  let identity = ClientIdentity(
    registering: ClientMetadata(
      redirectURIs: ["http://127.0.0.1/callback"], clientName: "MCP example"),
    in: try FileRegistrationStore(service: service, key: .file(service: service)),
    documentAddress: ProcessInfo.processInfo.environment["CLIENT_ID"])
  let accounts = AccountManager(store: try EncryptedFileTokenStore(service: service))
  var options = ResourceClient.Options()
  options.profile = .mcp
  options.interaction = .signInAndStepUp
  let client = try ResourceClient(url, as: identity, accounts: accounts, options: options)

  do {
    let lines: [String]
    if let tool = arguments.dropFirst().first {
      let text = arguments.dropFirst(2).first ?? "{}"
      let values = try JSONSerialization.jsonObject(with: Data(text.utf8))
      lines = try await call(
        "tools/call", ["name": tool, "arguments": values], name: tool, at: url, by: client)
    } else {
      lines = try await call("tools/list", [:], at: url, by: client)
    }
    for line in lines { print(line.onScreen) }
  } catch {
    // A refresh may be in progress even if the call has failed.
    try? await accounts.flush()
    throw error
  }
  // If a refresh is in progress, its token must be stored before the program ends.
  try await accounts.flush()
} catch {
  complain("Failed: \(error)")
  exit(1)
}
