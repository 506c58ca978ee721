import Foundation
import ProgramSupport
import TestSupport
import Testing

@testable import sq_demo

/// The completion scripts, tested with the shells themselves.
@Suite(.timeLimit(.minutes(5))) struct `Shell completion` {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try folder.write("", to: "file one")
  }

  private static let table = ShellTable(SQDemo.commands)

  /// Command lines whose last word is completed, and the expected completions.
  private static let lines: [(words: [String], completions: Set<String>)] = [
    (["lo"], ["login", "logout"]), (["fi"], ["files"]), (["--provi"], ["--provider"]),
    (["login", "--provi"], ["--provider"]), (["logout", "--provi"], []),
    (["login", "--provider", ""], Set(KnownProvider.names)),
    (["token", "--sand"], ["--sandbox"]), (["login", "--browser", "s"], ["system", "sandbox"]),
    (["login", "--issuer", ""], []), (["call", "P"], ["POST", "PUT", "PATCH"]),
    (["call", "GET", "/x", "--body", "fi"], ["file one"]),
    (["files", "re"], ["rename"]), (["files", "put", "fi"], ["file one"]),
    (["files", "get", "x", "-o", "fi"], ["file one"]), (["help", "st"], ["stores"]),
    (["completion", ""], ["bash", "zsh", "fish"]),
    (["login", "--store", "enc"], ["encrypted:", "encrypted-sqlite:"]),
    (["login", "--profile", ""], ["fapi2", "fapi2-signed"]),
    (["sandbox", "--profile", ""], ["fapi2", "fapi2-signed", "atproto"]),
    (["login", "--key", "fi"], ["file one"]), (["sandbox", "--client-key", "fi"], ["file one"]),
    (["call", "--dp"], ["--dpop"]), (["explain", "store_t"], ["store_too_new"]),
  ]

  private func script(_ shell: String) async throws -> String {
    let outcome = try await DemoProcess.run(["completion", shell], in: folder)
    #expect(outcome.status == 0 && outcome.errors.isEmpty)
    return outcome.output
  }

  /// Runs a shell in the folder and returns the lines of its output.
  private func run(_ command: [String]) async throws -> [Substring] {
    let (output, errors) = (try folder.handle("said"), try folder.handle("complained"))
    let child = try ChildProcess(
      ["env", "--chdir", folder.path] + command, environment: ["HOME": folder.path],
      input: FileHandle.nullDevice.fileDescriptor, output: output.fileDescriptor,
      errors: errors.fileDescriptor)
    #expect(try await child.result().status == 0, "\(folder.read("complained"))")
    withExtendedLifetime((output, errors)) {}
    return folder.read("said").split(separator: "\n")
  }

  @Test func `shell completion in bash offers the commands, options, values and files that fit`()
    async throws
  {
    try folder.write(
      try await script("bash") + """

        compopt() { :; }  # The builtin works only while bash itself completes a word.
        COMP_WORDS=(sq-demo "$@") COMP_CWORD=$# COMPREPLY=()
        _sq_demo
        printf '%s\\n' "${COMPREPLY[@]}"
        """, to: "run")
    for line in Self.lines {
      let said = try await run(["bash", "run"] + line.words)
      #expect(Set(said.map(String.init)) == line.completions, "\(line.words)")
    }
  }

  @Test(
    arguments: [
      (["login", "--provider", "=", "k"], ["keycloak"]),
      (["login", "--browser", "="], ["system", "print", "sandbox"]),
      (["login", "--store", "file", ":", "fi"], ["file one"]),
      (
        ["login", "--store", "file", ":"],
        ["complained", "errors", "file one", "output", "run", "said"]
      ),
    ] as [([String], Set<String>)])
  func `shell completion in bash works after = and :, which bash treats as separate words`(
    words: [String], completions: Set<String>
  ) async throws {
    try folder.write(
      try await script("bash") + """

        compopt() { :; }
        COMP_WORDS=(sq-demo "$@") COMP_CWORD=$# COMPREPLY=()
        _sq_demo
        printf '%s\\n' "${COMPREPLY[@]}"
        """, to: "run")
    let said = try await run(["bash", "run"] + words)
    #expect(Set(said.map(String.init)) == completions)
  }

  @Test(.requires(.fish))
  func `shell completion in fish offers the commands, options, values and files that fit`()
    async throws
  {
    try folder.write(try await script("fish"), to: "run")
    for line in Self.lines {
      // An empty last word leaves a space at the end of the line, so fish completes a new word.
      let words = line.words.joined(separator: " ")
      let said = try await run([
        "fish", "--no-config", "-c", "source run; complete -C 'sq-demo \(words)'",
      ])
      let offered = said.map { $0.prefix { $0 != "\t" } }
      #expect(Set(offered.map(String.init)) == line.completions, "\(line.words): \(said)")
    }
  }

  @Test(.requires(.zsh))
  func `shell completion in zsh is a valid script`() async throws {
    try folder.write(try await script("zsh"), to: "run")
    _ = try await run(["zsh", "-n", "run"])
  }

  @Test func `shell completion covers every command and every option in all shells`() {
    let scripts = [
      BashScript(table: Self.table).text, ZshScript(table: Self.table).text,
      FishScript(table: Self.table).text,
    ]
    for command in SQDemo.commands {
      for script in scripts { #expect(script.contains(command.name)) }
      for option in command.options {
        #expect(
          scripts[0].contains(option.name)
            && scripts[1].contains("'\(option.repeats ? "*" : "")\(option.name)"))
        #expect(scripts[2].contains(" -l \(option.name.dropFirst(2)) "))
      }
    }
  }

  @Test func `bash completion offers the right values for an option that differs between commands`()
  {
    let table = Self.table
    for entry in table.entries {
      for option in entry.options where option.value != nil {
        let usual = table.optionsWithValues.first { $0.name == option.name }
        let special = table.specialOptions.first {
          $0.command == entry.name && $0.option.name == option.name
        }
        let known = special?.option ?? usual
        #expect(known?.choices == option.choices && known?.takesFile == option.takesFile)
      }
    }
    #expect(table.specialOptions.map(\.command) == ["sandbox"])
    for option in table.entries.flatMap(\.options) {
      let others = table.entries.flatMap(\.options).filter { $0.name == option.name }
      #expect(others.allSatisfy { ($0.value == nil) == (option.value == nil) }, "\(option.name)")
    }
  }
}

extension ProgramRequirement {
  fileprivate static let fish = Self(programs: ["fish"])
  fileprivate static let zsh = Self(programs: ["zsh"])
}
