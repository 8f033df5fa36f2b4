import Foundation
import Switchyard
import SwitchyardFirebase
import SwitchyardLocalFirebase
import SwitchyardLocalSupabase
import SwitchyardMove
import SwitchyardSupabase

/// What local servers hold when they start, and what of it is kept when they end: archives, as `switchyard move export` writes them.
struct EmulatorContents {
    /// Archives to read at the start and to write at the end; of two servers, each has a folder of its own in them.
    let importFolder: URL?
    let exportFolder: URL?
    private let isDivided: Bool

    init(_ given: Options, isDivided: Bool) throws(UsageError) {
        importFolder = given["--import"].map { URL(fileURLWithPath: $0, isDirectory: true) }
        exportFolder = given["--export"].map { URL(fileURLWithPath: $0, isDirectory: true) }
        self.isDivided = isDivided
        if let exportFolder, !isDivided, !Self.isArchive(exportFolder),
            FileManager.default.fileExists(atPath: exportFolder.path)
        {
            throw UsageError("“\(exportFolder.path)” is there and is no archive; name another folder after “--export”")
        }
        guard let importFolder, !Self.isArchive(importFolder) else { return }
        let parts = ["firebase", "supabase"].map { importFolder.appendingPathComponent($0, isDirectory: true) }
        guard isDivided, parts.contains(where: Self.isArchive) else {
            throw UsageError(
                "“\(importFolder.path)” has no archive"
                    + (isDivided ? " in “firebase” or “supabase”" : "; name the folder of “switchyard move export”"))
        }
    }

    private static func isArchive(_ folder: URL) -> Bool {
        FileManager.default.fileExists(atPath: folder.appendingPathComponent("archive.json").path)
    }

    /// A server with what it is called, and how to reach it.
    struct Server {
        let name: String
        let open: () async throws(InfrastructureError) -> Infrastructure

        init(_ server: LocalFirebase) {
            name = "firebase"
            open = { () async throws(InfrastructureError) in
                try await Infrastructure(FirebaseModule(LocalBackends.settings(of: server)))
            }
        }

        init(_ server: LocalSupabase, bucket: String) {
            name = "supabase"
            open = { () async throws(InfrastructureError) in
                try await Infrastructure(SupabaseModule(LocalBackends.settings(of: server, bucket: bucket)))
            }
        }
    }

    /// Reads the archives into the servers.
    func load(into servers: [Server]) async throws {
        for server in servers {
            guard let folder = folder(importFolder, server), Self.isArchive(folder) else { continue }
            let report = try await move(server) { end in
                Move(from: try ArchiveEnd(folder), to: end)
            }
            Terminal.print("Imported into the local \(server.name) from \(folder.path): \(report)")
        }
    }

    /// Writes the archives, each in place of one that was there.
    func save(_ servers: [Server]) async throws {
        for server in servers {
            guard let folder = folder(exportFolder, server) else { continue }
            let files = FileManager.default
            let draft = folder.deletingLastPathComponent()
                .appendingPathComponent(
                    ".\(folder.lastPathComponent)-\(UInt64.random(in: 0 ... .max))", isDirectory: true)
            defer { try? files.removeItem(at: draft) }
            try files.createDirectory(at: folder.deletingLastPathComponent(), withIntermediateDirectories: true)
            let report = try await move(server) { end in
                Move(from: end, to: try ArchiveEnd(draft, creates: true))
            }
            try Self.put(draft, in: folder)
            Terminal.print("Exported from the local \(server.name) to \(folder.path): \(report)")
        }
    }

    /// The earlier archive stays until the new one is in its place.
    private static func put(_ draft: URL, in folder: URL) throws {
        let files = FileManager.default
        guard files.fileExists(atPath: folder.path) else { return try files.moveItem(at: draft, to: folder) }
        guard isArchive(folder) else {
            throw MoveError(
                .alreadyExists, "“\(folder.path)” is there and is no archive. Name another folder after --export.")
        }
        let earlier = draft.appendingPathExtension("earlier")
        try files.moveItem(at: folder, to: earlier)
        do {
            try files.moveItem(at: draft, to: folder)
        } catch {
            try files.moveItem(at: earlier, to: folder)
            throw error
        }
        try files.removeItem(at: earlier)
    }

    private func folder(_ folder: URL?, _ server: Server) -> URL? {
        isDivided ? folder?.appendingPathComponent(server.name, isDirectory: true) : folder
    }

    private func move(_ server: Server, _ make: (BackendEnd) throws -> Move) async throws -> MoveReport {
        let journal = FileManager.default.temporaryDirectory
            .appendingPathComponent("switchyard-emulator-\(UInt64.random(in: 0 ... .max))", isDirectory: true)
        defer { try? FileManager.default.removeItem(at: journal) }
        let backend = try await server.open()
        do {
            let move = try make(try await BackendEnd(backend, name: "the local \(server.name)"))
            let report = try await move.run(try await move.plan(), journal: journal).resultShowingProgress()
            for rejection in report.rejections.prefix(10) { Terminal.error("not taken: \(rejection)") }
            await backend.shutDown()
            return report
        } catch {
            await backend.shutDown()
            throw error
        }
    }
}
