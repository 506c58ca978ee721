import FoundationEssentials
import Glibc
import OAuthSandbox

// Prints a table of the SDK's operations per second, compared with a peer: the bare work that the
// SDK cannot avoid, or another library. Build this program with optimization. It ends by itself
// within minutes. A word as argument selects the rows that contain it; the word "scale" draws
// charts instead.

if CommandLine.arguments.contains(ByteServer.argument) {
  var loop = ByteServerLoop()
  loop.run()
}

if let place = CommandLine.arguments.firstIndex(of: FleetBenchmarks.argument) {
  try await FleetBenchmarks.keep(
    CommandLine.arguments[place + 1], CommandLine.arguments[place + 2])
  exit(0)
}

if let place = CommandLine.arguments.firstIndex(of: ScaleMemory.argument) {
  try await ScaleMemory.report(CommandLine.arguments[place + 1])
  exit(0)
}

let server = try ByteServer()
defer { server.stop() }
if CommandLine.arguments.contains(Memory.argument) {
  try await Memory.work(server)
  exit(0)
}
if CommandLine.arguments.contains(Memory.accountsArgument) {
  try await Memory.reportAccounts()
  exit(0)
}

let word = CommandLine.arguments.dropFirst().first ?? ""
if word == Scale.word {
  try await Scale.run(server)
  exit(0)
}
func isWanted(_ name: String) -> Bool { word.isEmpty || name.contains(word) }

print(Table.header())
for benchmark in try HTTPBenchmarks.all(server) where isWanted(benchmark.name) {
  print(Table.row(try await benchmark.measure(rounds: 9)))
}
if isWanted("memory") {
  try Memory.report(Memory.argument)
  try Memory.report(Memory.accountsArgument)
}
if StartUp.names.contains(where: isWanted) {
  let startUp = try await StartUp()
  defer { startUp.removeFile() }
  for benchmark in startUp.all() where isWanted(benchmark.name) {
    print(Table.row(try await benchmark.measure(rounds: StartUp.rounds)))
  }
  try StartUp.reportSizes()
}
let go = try GoPeer.start()
defer { go?.stop() }
for benchmark in try TokenBenchmarks.all(server, go) where isWanted(benchmark.name) {
  print(Table.row(try await benchmark.measure(rounds: 9)))
}
if isWanted(GrantParts.name) { try await GrantParts.report(server) }
for benchmark in try AuthorizedReads.all(server, go) where isWanted(benchmark.name) {
  print(Table.row(try await benchmark.measure(rounds: 9)))
}
let libraries = try JOSELibraries()
defer { libraries.stop() }
for benchmark in try await ProofBenchmarks.all(server, libraries) where isWanted(benchmark.name) {
  print(Table.row(try await benchmark.measure(rounds: 9)))
}
if "download of 1 GB, upload of 1 GB".contains(word) {
  if let transfers = try await TransferBenchmarks.start() {
    defer { transfers.stop() }
    for benchmark in transfers.all() where isWanted(benchmark.name) {
      print(Table.row(try await benchmark.measure(rounds: 9)))
    }
  } else {
    print("note: no transfers are measured, because curl or nginx is missing")
  }
}
if "gRPC call, one after the other; gRPC call, 64 at once".contains(word) {
  if let calls = try RPCBenchmarks.start() {
    defer { calls.stop() }
    for benchmark in try await calls.all() where isWanted(benchmark.name) {
      print(Table.row(try await benchmark.measure(rounds: 9)))
    }
  } else {
    print("note: no gRPC calls are measured, because Go's grpc is missing")
  }
}
let stores = try StoreBenchmarks()
defer { stores.removeFiles() }
for benchmark in try stores.all() where isWanted(benchmark.name) {
  print(Table.row(try await benchmark.measure(rounds: 9)))
}
if let databases = try DatabaseBenchmarks(word: word) {
  for benchmark in databases.all() where isWanted(benchmark.name) {
    print(Table.row(try await benchmark.measure(rounds: 9)))
  }
}
for distance in FleetBenchmarks.Distance.allCases {
  guard let fleet = try await FleetBenchmarks(server, distance, word: word) else { continue }
  for benchmark in fleet.all() where isWanted(benchmark.name) {
    print(Table.row(try await benchmark.measure(rounds: 5)))
  }
  if distance == .near, isWanted("memory of a worker") { try await fleet.reportMemory() }
}
if "ID token, RS256; ID token, ES256".contains(word) {
  for algorithm in RawSignature.Algorithm.allCases {
    let idToken = try await SandboxIDToken(algorithm)
    for benchmark in try idToken.all(libraries) where isWanted(benchmark.name) {
      print(Table.row(try await benchmark.measure(rounds: 9)))
    }
    await idToken.stop()
  }
}
if AccessTokenBenchmarks.names.contains(where: isWanted) {
  let checks = try await AccessTokenBenchmarks()
  for benchmark in try checks.all() where isWanted(benchmark.name) {
    print(Table.row(try await benchmark.measure(rounds: 9)))
  }
  await checks.stop()
}
if isWanted(JSONBenchmarks.name) {
  let json = try JSONBenchmarks()
  defer { json.stop() }
  for benchmark in json.all() { print(Table.row(try await benchmark.measure(rounds: 9))) }
}
let sandbox = try await SandboxServer.start()
for benchmark in try SignInBenchmarks.all(sandbox) where isWanted(benchmark.name) {
  print(Table.row(try await benchmark.measure(rounds: 9)))
}
await sandbox.stop()
