/// The common start of all requests to the drive: checks the token and finds the files' owner.
enum DriveAPI {
  struct Access {
    let owner: DriveState.Owner
    /// The owner's name for people.
    let name: String
  }

  /// Runs the work of a request that may read or change the files of the token's owner.
  ///
  /// Reading needs the scope `demo` or `files`; changing needs `files`, which tells the user so.
  static func answer(
    _ request: SandboxRequest, _ methods: [String], _ sandbox: inout SandboxState,
    work: (Access, inout SandboxState) throws(APIFault) -> Answer
  ) -> Answer {
    do throws(APIFault) {
      let access = try access(request, methods, &sandbox)
      return try work(access, &sandbox)
    } catch {
      return error.answer
    }
  }

  static func access(
    _ request: SandboxRequest, _ methods: [String], _ sandbox: inout SandboxState
  ) throws(APIFault) -> Access {
    guard methods.contains(request.method) else {
      throw APIFault(.methodNotAllowed(methods.joined(separator: ", ")))
    }
    let scopes = request.isGet ? ["demo", "files"] : ["files"]
    let grant = try ProtectedAPI.access(request, anyOf: scopes, sandbox).grant
    let owner = sandbox.openDrive(of: DriveState.Owner(grant))
    return Access(owner: owner, name: sandbox.name(of: owner))
  }

  /// The answer of `/drive/v2/about`: whose drive it is, and how full.
  static func about(_ request: SandboxRequest, _ sandbox: inout SandboxState) -> Answer {
    answer(request, ["GET", "HEAD"], &sandbox) { access, sandbox in
      let used = sandbox.drive.bytes(of: access.owner)
      return Answer(
        json: [
          "kind": "drive#about",
          "name": .string(access.name),
          "user": ["kind": "drive#user", "displayName": .string(access.name)],
          "quotaBytesTotal": .string(String(sandbox.options.driveBytes)),
          "quotaBytesUsed": .string(String(used)),
        ])
    }
  }
}

extension SandboxState {
  /// Opens a drive if it was never opened, with its documents if the options ask for them.
  @discardableResult
  mutating func openDrive(of owner: DriveState.Owner) -> DriveState.Owner {
    drive.open(owner, withDocuments: options.drivesHaveDocuments, at: now)
    return owner
  }

  /// The files of a drive, which is opened first if necessary.
  mutating func openedFiles(of owner: DriveState.Owner) -> [SandboxFile] {
    openDrive(of: owner)
    return drive.files(of: owner)
  }

  /// The name of a user or a client for people; if it is not registered, its identifier.
  func name(of owner: DriveState.Owner) -> String {
    switch owner {
    case .user(let name): user(name)?.displayName ?? name
    case .client(let id): client(id)?.name ?? id
    }
  }

  /// How many bytes a drive has left, if the content of `file` counts as free.
  func room(of owner: DriveState.Owner, replacing file: SandboxFile? = nil) -> Int {
    max(0, options.driveBytes - drive.bytes(of: owner) + (file?.content.count ?? 0))
  }
}
