import Testing

@testable import sq_demo

@Suite struct `The commands` {
  private func page(_ words: [String]) throws -> String? {
    guard case .print(let text) = try Invocation(words, commands: SQDemo.commands) else {
      return nil
    }
    return text
  }

  @Test(arguments: [
    ([], "tour"), (["--browser", "system"], "tour"), (["tour"], "tour"), (["login"], "login"),
    (["token"], "token"), (["logout"], "logout"), (["sandbox"], "sandbox"),
    (["watch"], "watch"), (["revoke"], "revoke"), (["accounts"], "accounts"),
    (["call", "GET", "/api/me"], "call"), (["cookbook"], "cookbook"), (["files"], "files"),
    (["completion", "zsh"], "completion"), (["rpc", "http://127.0.0.1:1"], "rpc"),
    (["rpc", "--sandbox"], "rpc"),
    (["--rpc", "http://127.0.0.1:1"], "tour"),
    (["token", "--dpop", "--par"], "token"), (["sandbox", "--profile", "atproto"], "sandbox"),
    (["rpc", "--sandbox", "--par"], "rpc"), (["rpc", "--sandbox", "--dpop"], "rpc"),
    (["files", "get", "A", "-o", "b"], "files"), (["files", "rename", "A", "B"], "files"),
  ])
  func `a command is found by its name, and no name means the tour`(words: [String], name: String)
    throws
  {
    guard case .run(let command, _) = try Invocation(words, commands: SQDemo.commands) else {
      Issue.record("no command was selected")
      return
    }
    #expect(type(of: command).name == name)
  }

  @Test(arguments: SQDemo.commands.map { $0.name })
  func `every command has a help page of at most 80 columns that lists all its options`(
    name: String
  ) throws {
    let text = try #require(try page(["help", name]))
    #expect(try page([name, "--help"]) == text)
    #expect(text.contains("Usage: sq-demo \(name)"))
    #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 })
    let command = try #require(SQDemo.commands.first { $0.name == name })
    let shared = try #require(try page(["help", "options"]))
    let own = text.firstRange(of: "\n\nShared options").map { text[..<$0.lowerBound] } ?? text[...]
    for option in command.options {
      #expect(text.contains(option.name))
      let isShared = OptionsTopic.shared.contains(option)
      #expect((isShared ? shared : text).contains("  \(option.term)"), "\(option.name)")
      #expect(!isShared || !own.contains("  \(option.term) "))
    }
  }

  @Test(arguments: SQDemo.commands.map { $0.name })
  func `a help page for 40 columns has wider lines only for usages and long terms`(
    name: String
  ) throws {
    let command = try #require(SQDemo.commands.first { $0.name == name })
    let pages = [
      Help.overview(SQDemo.commands, width: 40), Help.page(command, width: 40),
      Help.page(OptionsTopic.self, width: 40),
    ]
    for line in pages.flatMap({ $0.split(separator: "\n") }) where line.count > 40 {
      let isUsage = line.hasPrefix("Usage: ") || line.hasPrefix("       sq-demo ")
      let words = line.split(separator: " ").count
      #expect(isUsage || words == (line.hasPrefix("  -") ? 2 : 1), "\(line)")
    }
  }

  @Test func `the options page explains each shared option once`() throws {
    let text = try #require(try page(["help", "options"]))
    #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 })
    for option in AccountOptions.optionsOrSandbox {
      #expect(text.ranges(of: "  \(option.term)").count == 1, "\(option.name)")
    }
  }

  @Test func `the stores page explains every kind of store`() throws {
    let text = try #require(try page(["help", "stores"]))
    #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 })
    for store in [
      "keyring", "encrypted:PATH", "encrypted-sqlite:PATH", "file:PATH", "sqlite:PATH",
      "postgresql://USER@HOST/DATABASE", "memory",
    ] {
      #expect(text.contains("\n  \(store)"), "\(store)")
    }
    for words in ["PATH.key", "SQ_STORE_PASSPHRASE", "locked and there is no display"] {
      #expect(text.contains(words), "\(words)")
    }
  }

  @Test func `help, --help and -h list all commands`() throws {
    let text = try #require(try page(["help"]))
    #expect(try page(["--help"]) == text)
    #expect(try page(["-h"]) == text)
    for command in SQDemo.commands { #expect(text.contains("  \(command.name) ")) }
    #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 })
  }

  @Test(arguments: [
    ["logn"], ["help", "logn"], ["help", "login", "token"], ["--version", "x"], ["--help", "x"],
    ["login", "now"], ["--issuer", "a.example"], ["call"], ["call", "GET"],
    ["call", "GET", "/a", "/b"], ["files", "put"], ["files", "get", "a", "b"], ["files", "x"],
    ["files", "rename", "a"], ["completion"], ["completion", "sh"],
    ["tour", "--redirect-uri", "com.example:/x"], ["tour", "--browser", "print"],
    ["tour", "--drive", "/x"], ["tour", "--auth", "post"],
    ["token", "--sandbox", "--account", "x"],
    ["token", "--sandbox", "--store", "file:x"], ["files", "--sandbox", "--issuer", "https://a"],
    ["revoke", "--sandbox"], ["rpc", "http://127.0.0.1:1", "--sandbox"],
    ["sandbox", "--profile", "fapi2"],
    ["sandbox", "--profile", "fapi2", "--key", "x"], ["logout", "--key", "x"],
    ["files", "put", "a", "--output", "b"], ["files", "--title", "x"],
  ])
  func `a missing, unknown or conflicting word or option is wrong usage with a hint`(
    words: [String]
  ) throws {
    let failure = try #require(throws: Failure.self) {
      try Invocation(words, commands: SQDemo.commands)
    }
    #expect(failure.status == .wrongUsage)
    #expect(failure.hint?.contains("Run 'sq-demo ") == true)
  }

  @Test(arguments: [
    (["--verbose", "token"], "sq-demo token --verbose"),
    (["--sandbox", "files"], "sq-demo files --sandbox"),
    (["--store=file:x", "accounts"], "sq-demo accounts --store"),
  ])
  func `options before the name of a command are reported with the right order`(
    words: [String], command: String
  ) throws {
    let failure = try #require(throws: Failure.self) {
      try Invocation(words, commands: SQDemo.commands)
    }
    #expect(failure.status == .wrongUsage)
    #expect(
      failure.hint == "The name of the command comes before its options: '\(command)'.",
      "\(failure)")
  }

  @Test func `an option's value that is a command's name is no command`() throws {
    let failure = try #require(throws: Failure.self) {
      try Invocation(["--browser", "sandbox", "--scoep", "x"], commands: SQDemo.commands)
    }
    #expect(failure.hint?.contains("Run 'sq-demo tour --help'") == true, "\(failure)")
  }

  @Test(arguments: [
    (["login", "--issuer", "id.example.com", "--client-id", "app"], "https://id.example.com"),
    (["login", "--issuer", "id.example.com:8443/a"], "https://id.example.com:8443/a"),
    (["rpc", "api.example.com"], "https://api.example.com"),
    (["token", "--resource", "api.example.com"], "https://api.example.com"),
  ])
  func `an error proposes a scheme for an address without one`(
    words: [String], address: String
  ) throws {
    let failure = try #require(throws: Failure.self) {
      try Invocation(words, commands: SQDemo.commands)
    }
    #expect(failure.status == .wrongUsage)
    #expect(failure.hint?.hasPrefix("Did you mean \(address)?\n") == true, "\(failure)")
  }

  @Test func `watch --all takes a client secret only with the client to which it belongs`() throws {
    func watch(_ words: [String]) throws(Failure) -> Watch {
      try Watch(
        Arguments(
          ["--all"] + words, options: Watch.options,
          secrets: Secrets(client: Secret(.clientSecret, "hunter2"))))
    }
    let failure = try #require(throws: Failure.self) { try watch([]) }
    #expect(failure.status == .wrongUsage && failure.message.contains("--client-id"))
    _ = try watch(["--issuer", "https://id.example.com", "--client-id", "app"])
  }

  @Test(arguments: [
    (["logn"], "login"), (["tokn", "--json"], "token"), (["acounts"], "accounts"),
    (["hlep"], "help"),
    (["help", "logn"], "login"), (["help", "option"], "options"),
    (["--provder", "x"], "--provider"),
    (["login", "-issuer", "x"], "--issuer"), (["call", "GET", "/", "--boddy", "x"], "--body"),
    (["login", "--provider", "gogle", "--client-id", "x"], "google"),
    (["login", "--store", "fil:x"], "file:"), (["completion", "bsh"], "bash"),
  ])
  func `an error suggests the word that a misspelt word may mean`(
    words: [String], meant: String
  ) throws {
    let failure = try #require(throws: Failure.self) {
      try Invocation(words, commands: SQDemo.commands)
    }
    #expect(failure.message.hasSuffix("; did you mean \(meant)?"), "\(failure.message)")
  }
}
