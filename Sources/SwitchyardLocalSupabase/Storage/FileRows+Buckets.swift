import Foundation
import SwitchyardBytes
import SwitchyardServerKit

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

    func create(_ id: String, _ body: JSON, as token: SupabaseToken) async throws(LocalSupabaseFileError) {
        let owner = token.subject
        let settings = try Self.settings(body)
        do throws(LocalSupabaseFileError) {
            _ = try await run(
                [
                    PostgresStatement(
                        """
                        insert into storage.buckets (id, name, owner, owner_id, public, file_size_limit, allowed_mime_types)
                        select $1, $1, $2::uuid, $3, coalesce((s ->> 'public')::bool, false),
                          (s ->> 'file_size_limit')::bigint, \(Self.types)
                        from (select $4::jsonb as s) given
                        """,
                        [id, owner.flatMap { UUID(uuidString: $0) == nil ? nil : $0 }, owner, settings.text()])
                ], as: token)
        } catch {
            guard error.code == LocalSupabaseFileError.keyAlreadyExists.code else { throw error }
            throw LocalSupabaseFileError(409, "BucketAlreadyExists", error.message, error: error.error)
        }
    }

    /// Changes the settings named in `body`.
    func update(_ id: String, _ body: JSON, as token: SupabaseToken) async throws(LocalSupabaseFileError) {
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
                    """, [id, try Self.settings(body).text()])
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

    /// The validated settings in a body.
    private static func settings(_ body: JSON) throws(LocalSupabaseFileError) -> JSON {
        var settings = JSONObject()
        if let isPublic = body["public"] {
            guard isPublic.bool != nil else { throw .invalidRequest("body/public must be boolean") }
            settings["public"] = isPublic
        }
        if let limit = body["file_size_limit"] {
            guard limit.isNull || FileBucket.size(limit) != nil else {
                throw .invalidRequest("body/file_size_limit must be a size")
            }
            settings["file_size_limit"] = FileBucket.size(limit).map { .integer($0) } ?? .null
        }
        if let types = body["allowed_mime_types"] {
            guard types.isNull || types.array?.allSatisfy({ $0.string?.includes("/") == true }) == true else {
                throw .invalidRequest("body/allowed_mime_types must be a list of types")
            }
            settings["allowed_mime_types"] = types
        }
        return .object(settings)
    }
}
