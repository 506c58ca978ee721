import FoundationEssentials
import Glibc
import OAuthSandbox

// Prints a table of what the SDK costs beside the bare work that it cannot avoid. Build it with
// optimization; it ends by itself within a minute. A word as argument picks the rows that have it.

if CommandLine.arguments.contains(ByteServer.argument) { ByteServer.serve() }

let server = try ByteServer()
defer { server.stop() }
if CommandLine.arguments.contains(Memory.argument) {
  try await Memory.work(server)
  exit(0)
}

let word = CommandLine.arguments.dropFirst().first ?? ""
func isWanted(_ name: String) -> Bool { word.isEmpty || name.contains(word) }

print(Table.header(baseline: "bare", subject: "SDK"))
for benchmark in try HTTPBenchmarks.all(server) where isWanted(benchmark.name) {
  print(Table.row(try await benchmark.measure(rounds: 9)))
}
if isWanted("memory") { try Memory.report() }
let sandbox = try await SandboxServer.start()
for benchmark in SignInBenchmarks.all(sandbox) where isWanted(benchmark.name) {
  print(Table.row(try await benchmark.measure(rounds: 9)))
}
await sandbox.stop()
