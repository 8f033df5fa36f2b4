import SwitchyardBytes
import SwitchyardServerKit

/// Databases for further projects on one PostgreSQL: the first is set up, the others are copies of it.
actor ProjectCopies {
    private let place: SupabaseDatabase.Place
    private let options: LocalSupabaseOptions
    /// The name of the database that is copied; no one connects to it once it is set up.
    private var original: Task<String, any Error>?
    /// Connections that have been closed need a moment to leave a database.
    private static let patience = 100

    init(_ place: SupabaseDatabase.Place, _ options: LocalSupabaseOptions) {
        self.place = place
        self.options = options
    }

    /// The options of a project in a database of this PostgreSQL.
    nonisolated func options(in database: String) -> LocalSupabaseOptions {
        var options = options
        options.folder = nil
        options.port = 0
        options.database = .given(port: place.port, user: place.user, name: database)
        return options
    }

    /// - Returns: The name of a new database that is set up as a project.
    func make() async throws(LocalSupabaseError) -> String {
        let original = original ?? Task { try await setUpOriginal() }
        self.original = original
        do {
            return try await create(copying: await original.value)
        } catch {
            // The next call may succeed, as when the disk has room again.
            if case .failure = await original.result { self.original = nil }
            throw error as? LocalSupabaseError
                ?? LocalSupabaseError("The database of another project cannot be made: \(error).")
        }
    }

    func drop(_ database: String) async {
        // One that stays is in no one's way; it goes with its server.
        try? await run("drop database if exists \(database) with (force)")
    }

    private func setUpOriginal() async throws -> String {
        let name = try await create(copying: nil)
        let project = try await LocalSupabase(options(in: name))
        await project.stop()
        return name
    }

    private func create(copying original: String?) async throws -> String {
        let name = "project_\(RandomID.make(length: 16).lowercased())"
        let statement = "create database \(name)" + (original.map { " template \($0)" } ?? "")
        for attempt in 1... {
            do throws(PostgresFailure) {
                try await run(statement)
                break
            } catch {
                // The database is in use by others.
                guard error.code == "55006", attempt < Self.patience else { throw error }
                try await Task.sleep(for: .milliseconds(10))
            }
        }
        return name
    }

    private func run(_ statement: String) async throws(PostgresFailure) {
        let connection = try await PostgresConnection(port: place.port, user: place.user, database: place.name)
        defer { connection.close() }
        _ = try await connection.run([PostgresStatement(statement)])
    }
}

extension LocalSupabase {
    /// Another project on the same PostgreSQL with the same options, scripts included: one for each test, say. The first one is set
    /// up, the others are copied from it in some ten milliseconds.
    ///
    /// It has its own port, keys, accounts, tables and files, and none of what this one holds. ``stop()`` removes it; stop it before
    /// the one that has made it.
    public func makeProject() async throws(LocalSupabaseError) -> LocalSupabase {
        let name = try await copies.make()
        do throws(LocalSupabaseError) {
            return try await LocalSupabase(copies.options(in: name), copy: (copies, name))
        } catch {
            await copies.drop(name)
            throw error
        }
    }
}
