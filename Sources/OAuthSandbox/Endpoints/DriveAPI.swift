/// What all parts of the drive begin with: a token, and whose files it opens.
enum DriveAPI {
  struct Access {
    let owner: DriveState.Owner
    /// How the owner is called.
    let name: String
  }

  /// Runs the work of a request that may read, or change, the files of its token's owner.
  ///
  /// Reading needs `demo` or `files`, and changing needs `files`, which says so to the user.
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

  /// `/drive/v2/about`: whose drive it is, and how full.
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
  /// Makes sure that a drive has been opened, with its documents if it is to have them.
  @discardableResult
  mutating func openDrive(of owner: DriveState.Owner) -> DriveState.Owner {
    drive.open(owner, withDocuments: options.drivesHaveDocuments, at: now)
    return owner
  }

  /// The files of a drive that may never have been opened before.
  mutating func openedFiles(of owner: DriveState.Owner) -> [SandboxFile] {
    openDrive(of: owner)
    return drive.files(of: owner)
  }

  /// A user's or a client's name for people; that of one who is not registered is the name itself.
  func name(of owner: DriveState.Owner) -> String {
    switch owner {
    case .user(let name): user(name)?.displayName ?? name
    case .client(let id): client(id)?.name ?? id
    }
  }

  /// What is left of a drive, were a file's content to make room.
  func room(of owner: DriveState.Owner, replacing file: SandboxFile? = nil) -> Int {
    max(0, options.driveBytes - drive.bytes(of: owner) + (file?.content.count ?? 0))
  }
}
