import Foundation
import SwitchyardBytes
import SwitchyardServerKit

/// The rows behind the file service. Operations on behalf of a user have that user's rights, which the database enforces;
/// only the service's own look-ups bypass the policies.
struct FileRows: Sendable {
    let database: SupabaseDatabase

    func run(
        _ statements: [PostgresStatement], as token: SupabaseToken, readOnly: Bool = false
    ) async throws(LocalSupabaseFileError) -> [PostgresResult] {
        do throws(PostgresFailure) {
            return try await database.run(statements, as: token, readOnly: readOnly)
        } catch {
            throw LocalSupabaseFileError(error)
        }
    }

    // MARK: Objects

    func object(
        _ place: FileObjectName, as token: SupabaseToken
    ) async throws(LocalSupabaseFileError) -> FileObject? {
        let results = try await run(
            [
                PostgresStatement(
                    "select \(FileObject.columns) from storage.objects where bucket_id = $1 and name = $2",
                    [place.bucket, place.name])
            ], as: token, readOnly: true)
        return FileObject(results[0].text)
    }

    /// Checks whether a user may write an object, without writing it.
    ///
    /// - Throws: The policies' refusal, or `KeyAlreadyExists`.
    func check(_ object: NewObject, as token: SupabaseToken) async throws(LocalSupabaseFileError) {
        let undo = "do $$ begin raise exception using errcode = '\(Self.undone)'; end $$"
        do throws(PostgresFailure) {
            _ = try await database.run(
                [insertion(of: object, version: nil, system: [:]), PostgresStatement(undo)], as: token, readOnly: false)
        } catch {
            guard error.code != Self.undone else { return }
            throw LocalSupabaseFileError(error)
        }
    }

    /// A transaction that fails with this code has run to its end.
    private static let undone = "SWUND"

    /// Stores an object; permission was checked before its contents arrived.
    func store(
        _ object: NewObject, version: String, system: JSON
    ) async throws(LocalSupabaseFileError) -> FileObject {
        var object = object
        object.replaces = true
        let results = try await run([insertion(of: object, version: version, system: system)], as: .service)
        guard let stored = FileObject(results[0].text) else {
            throw LocalSupabaseFileError(500, "InternalError", "The database has not stored the object")
        }
        return stored
    }

    private func insertion(of object: NewObject, version: String?, system: JSON) -> PostgresStatement {
        PostgresStatement(
            """
            insert into storage.objects as o (bucket_id, name, owner, owner_id, version, metadata, user_metadata)
            values ($1, $2, $3::uuid, $4, $5, $6::jsonb, $7::jsonb)
            \(object.replaces ? Self.replacement : "")
            \(version == nil ? "" : "returning \(FileObject.columns)")
            """,
            [
                object.place.bucket, object.place.name,
                object.owner.flatMap { UUID(uuidString: $0) == nil ? nil : $0 }, object.owner, version, system.text(),
                object.notes.isNull ? nil : object.notes.text(),
            ])
    }

    private static let replacement = """
        on conflict (bucket_id, name) do update set owner = excluded.owner, owner_id = excluded.owner_id,
          version = excluded.version, metadata = excluded.metadata, user_metadata = excluded.user_metadata,
          updated_at = clock_timestamp(), last_accessed_at = clock_timestamp()
        """

    /// - Throws: `NoSuchKey` also if the caller may not see or change it.
    func move(
        _ source: FileObjectName, to destination: FileObjectName, as token: SupabaseToken
    ) async throws(LocalSupabaseFileError) -> FileObject {
        let results = try await run(
            [
                PostgresStatement(
                    """
                    update storage.objects set bucket_id = $3, name = $4, updated_at = clock_timestamp()
                    where bucket_id = $1 and name = $2 returning \(FileObject.columns)
                    """, [source.bucket, source.name, destination.bucket, destination.name])
            ], as: token)
        guard let object = FileObject(results[0].text) else { throw .noSuchKey }
        return object
    }

    /// - Returns: The objects that were actually removed, in list format.
    func remove(
        _ names: [String], from bucket: String, as token: SupabaseToken
    ) async throws(LocalSupabaseFileError) -> JSON {
        try await rows(
            """
            with gone as (delete from storage.objects where bucket_id = $1
              and name in (select jsonb_array_elements_text($2::jsonb)) returning *)
            select coalesce(json_agg(\(Self.whole)), '[]') from gone
            """, [bucket, JSON.array(names.map { .string($0) }).text()], as: token, readOnly: false)
    }

    /// All returned properties of an object.
    func whole(_ id: String) async throws(LocalSupabaseFileError) -> JSON {
        try await rows("select \(Self.whole) from storage.objects where id = $1::uuid", [id], as: .service)
    }

    func removeAll(from bucket: String, as token: SupabaseToken) async throws(LocalSupabaseFileError) {
        _ = try await run(
            [PostgresStatement("delete from storage.objects where bucket_id = $1", [bucket])], as: token)
    }

    /// Unreferenced contents; each is returned once.
    func discarded() async throws(LocalSupabaseFileError) -> [String] {
        let results = try await run(
            [PostgresStatement("delete from storage.discarded returning version")], as: .service)
        return results[0].rows.compactMap { $0.first.flatMap { $0 }.map { String(decoding: $0, as: UTF8.self) } }
    }

    /// The format of objects in lists.
    static let listed = "json_build_object(\(common))"
    /// The format of objects in answers to changes.
    static let whole = """
        json_build_object('bucket_id', bucket_id, 'owner', coalesce(owner::text, ''), 'owner_id', coalesce(owner_id, ''),
          'version', version, 'user_metadata', coalesce(user_metadata, '{}'), \(common))
        """
    private static let common = """
        'name', name, 'id', id, 'metadata', metadata, 'created_at', \(FileObject.time("created_at")),
          'updated_at', \(FileObject.time("updated_at")),
          'last_accessed_at', \(FileObject.time("last_accessed_at"))
        """

    /// The only value returned by a statement.
    func rows(
        _ sql: String, _ parameters: [String?], as token: SupabaseToken, readOnly: Bool = true
    ) async throws(LocalSupabaseFileError) -> JSON {
        let results = try await run([PostgresStatement(sql, parameters)], as: token, readOnly: readOnly)
        return (try? JSON(parsing: results[0].text ?? "null")) ?? .null
    }
}

/// The SQL for buckets requested at the start.
enum FilePolicies {
    static func script(_ options: LocalSupabaseOptions) -> String {
        (options.buckets.map(bucket) + [open(options.allowsEverything)]).joined(separator: ";\n")
    }

    /// A private bucket in which each file belongs to the user who uploaded it, as the owner of a hosted project would write
    /// it. An existing bucket keeps its policies.
    static func bucket(_ name: String) -> String {
        let bucket = literal(name)
        let policies = [
            ("read", "select", "using"), ("add", "insert", "with check"), ("change", "update", "using"),
            ("remove", "delete", "using"),
        ].map { verb, action, clause in
            """
            create policy \(RESTStatement.quoted("\(name): \(verb) own files")) on storage.objects for \(action) to authenticated
              \(clause) (bucket_id = \(bucket) and owner_id = (select auth.jwt() ->> 'sub'))
            """
        }
        return """
            do $bucket$
            begin
              if not exists (select from storage.buckets where id = \(bucket)) then
                insert into storage.buckets (id, name) values (\(bucket), \(bucket));
                \(policies.joined(separator: ";\n"));
              end if;
            end $bucket$
            """
    }

    private static func open(_ isOpen: Bool) -> String {
        """
        drop policy if exists local_open on storage.objects;
        drop policy if exists local_open on storage.buckets
        """
            + (isOpen
                ? """
                ;
                create policy local_open on storage.objects using (true) with check (true);
                create policy local_open on storage.buckets using (true) with check (true)
                """ : "")
    }

    private static func literal(_ text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
    }
}
