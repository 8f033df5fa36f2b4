import Foundation
import SwitchyardBytes
import SwitchyardServerKit

/// Lists of objects that the policies show to the caller.
extension FileRows {
    struct Order: Sendable {
        let column: String
        let isDescending: Bool

        init(column: String, isDescending: Bool) {
            self.column = column
            self.isDescending = isDescending
        }

        /// The order in a checked body: by name if it names none.
        init(_ json: JSON?) {
            self.init(column: json?["column"]?.string ?? "name", isDescending: json?["order"] == "desc")
        }

        var direction: String { isDescending ? "desc" : "asc" }
    }

    /// One level: names below the first slash are listed as their folder.
    func level(
        _ bucket: String, prefix: String, search: String, _ order: Order, limit: Int, offset: Int,
        as token: SupabaseToken
    ) async throws(LocalSupabaseFileError) -> JSON {
        // Sorted by bytes, like names. With other orders, folders come before the files, otherwise among them.
        try await rows(
            """
            with visible as (
              select o.*, substr(o.name, length($2::text) + 1) as rest from storage.objects o
              where o.bucket_id = $1 and starts_with(o.name, $2)),
            entries as (
              select distinct split_part(rest, '/', 1) collate "C" as entry, null::uuid as id, null::text as owner_id,
                null::text as version, null::jsonb as metadata, null::jsonb as user_metadata,
                null::timestamptz as created_at, null::timestamptz as updated_at,
                null::timestamptz as last_accessed_at, $1::text as bucket_id
              from visible where strpos(rest, '/') > 0
              union all
              select rest, id, owner_id, version, metadata, user_metadata, created_at, updated_at, last_accessed_at,
                bucket_id
              from visible where strpos(rest, '/') = 0 and rest <> ''),
            page as (
              select entry as name, entries.* from entries where starts_with(lower(entry), lower($3))
              order by \(order.column == "name" ? "entry" : order.column) \(order.direction) nulls first, entry
              limit $4::bigint offset $5::bigint)
            select coalesce(json_agg(case when id is null then json_build_object('name', name, 'id', null,
              'updated_at', null, 'created_at', null, 'last_accessed_at', null, 'metadata', null)
              else \(Self.listed) end), '[]') from page
            """, [bucket, prefix, search, String(limit), String(offset)], as: token)
    }

    /// A page of complete names.
    ///
    /// - Parameters:
    ///   - isFlat: Whether to list objects in folders individually, instead of the folders.
    ///   - cursor: The entry after which the page starts: its sort value and its name.
    /// - Returns: The entries, at most one more than `limit`: `{"name", "place", "row"}`, without a row for a folder.
    func page(
        _ bucket: String, prefix: String, isFlat: Bool, _ order: Order, limit: Int, after cursor: (String, String)?,
        as token: SupabaseToken
    ) async throws(LocalSupabaseFileError) -> [JSON] {
        let place =
            order.column == "name" ? "name" : "to_char(\(order.column) at time zone 'utc', 'YYYYMMDDHH24MISSUS')"
        let found = try await rows(
            """
            with visible as (
              select o.*, strpos(substr(o.name, length($2::text) + 1), '/') as slash from storage.objects o
              where o.bucket_id = $1 and starts_with(o.name, $2)),
            entries as (
              select name collate "C" as key, (\(place)) collate "C" as place, \(Self.listed) as row
              from visible where slash = 0 or $3::bool
              union all
              select name collate "C", (\(order.column == "name" ? "name" : "''")) collate "C", null
              from (select distinct substr(name, 1, length($2::text) + slash) as name
                    from visible where slash > 0 and not $3::bool) folders),
            page as (
              select * from entries where $4::text is null
                or (place, key) \(order.isDescending ? "<" : ">") ($4::text, $5::text)
              order by place \(order.direction), key \(order.direction) limit $6::bigint)
            select coalesce(json_agg(json_build_object('name', key, 'place', place, 'row', row)), '[]') from page
            """, [bucket, prefix, isFlat ? "true" : "false", cursor?.0, cursor?.1, String(limit + 1)], as: token)
        return found.array ?? []
    }
}

/// The rows of buckets.
extension FileRows {
    /// The bucket's settings that the service itself needs, independent of the caller.
    func bucket(_ id: String) async throws(LocalSupabaseFileError) -> FileBucket {
        let found = try await bucket(id, as: .service)
        guard let bucket = FileBucket(found?.text()) else { throw .noSuchBucket }
        return bucket
    }

    /// - Returns: `nil` also if the caller may not see it.
    func bucket(_ id: String, as token: SupabaseToken) async throws(LocalSupabaseFileError) -> JSON? {
        let found = try await rows(
            "select \(FileBucket.columns) from storage.buckets where id = $1", [id], as: token)
        return found.isNull ? nil : found
    }

    func buckets(
        search: String, _ order: Order, limit: Int?, offset: Int, as token: SupabaseToken
    ) async throws(LocalSupabaseFileError) -> JSON {
        try await rows(
            """
            with page as (select * from storage.buckets where starts_with(lower(name), lower($1))
              order by \(order.column) \(order.direction), id limit $2::bigint offset $3::bigint)
            select coalesce(jsonb_agg(\(FileBucket.listed)), '[]') from page
            """, [search, limit.map(String.init), String(offset)], as: token)
    }

    /// - Parameter settings: A checked body.
    func create(
        _ id: String, named name: String, _ settings: JSON, as token: SupabaseToken
    ) async throws(LocalSupabaseFileError) {
        let owner = token.subject
        try Self.check(settings)
        do throws(LocalSupabaseFileError) {
            _ = try await run(
                [
                    PostgresStatement(
                        """
                        insert into storage.buckets (id, name, owner, owner_id, public, file_size_limit, allowed_mime_types)
                        select $1, $5, $2::uuid, $3, coalesce((s ->> 'public')::bool, false),
                          (s ->> 'file_size_limit')::bigint, \(Self.types)
                        from (select $4::jsonb as s) given
                        """,
                        [id, owner.flatMap { UUID(uuidString: $0) == nil ? nil : $0 }, owner, settings.text(), name])
                ], as: token)
        } catch {
            guard error.code == LocalSupabaseFileError.keyAlreadyExists.code else { throw error }
            throw LocalSupabaseFileError(409, "BucketAlreadyExists", error.message, error: error.error)
        }
    }

    /// Changes the named settings.
    func update(_ id: String, _ settings: JSON, as token: SupabaseToken) async throws(LocalSupabaseFileError) {
        try Self.check(settings)
        let results = try await run(
            [
                PostgresStatement(
                    """
                    update storage.buckets b set public = coalesce((s ->> 'public')::bool, b.public),
                      file_size_limit = case when s ? 'file_size_limit' then (s ->> 'file_size_limit')::bigint
                        else b.file_size_limit end,
                      allowed_mime_types = case when s ? 'allowed_mime_types' then \(Self.types)
                        else b.allowed_mime_types end,
                      updated_at = clock_timestamp()
                    from (select $2::jsonb as s) given where b.id = $1 returning b.id
                    """, [id, settings.text()])
            ], as: token)
        guard results[0].text != nil else { throw .noSuchBucket }
    }

    func delete(_ id: String, as token: SupabaseToken) async throws(LocalSupabaseFileError) {
        let results: [PostgresResult]
        do throws(LocalSupabaseFileError) {
            results = try await run(
                [PostgresStatement("delete from storage.buckets where id = $1 returning id", [id])], as: token)
        } catch {
            // There are objects in it.
            guard error.code == LocalSupabaseFileError.noSuchBucket.code else { throw error }
            throw LocalSupabaseFileError(409, "ResourceNotEmpty", "The bucket you tried to delete is not empty")
        }
        guard results[0].text != nil else { throw .noSuchBucket }
    }

    private static let types = """
        case when jsonb_typeof(s -> 'allowed_mime_types') = 'array'
          then array(select jsonb_array_elements_text(s -> 'allowed_mime_types')) end
        """

    private static func check(_ settings: JSON) throws(LocalSupabaseFileError) {
        if let limit = settings["file_size_limit"]?.int64, limit > FileBucket.standardLimit { throw .tooLarge }
        for type in settings["allowed_mime_types"]?.array ?? [] {
            guard let text = type.string, FileBucket.isType(text) else { throw .invalidType(type.string ?? "") }
        }
    }
}
