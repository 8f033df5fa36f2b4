import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// Buckets. Policies on `storage.buckets` decide who may create and change them; at first, only the service key.
extension LocalSupabaseFileStorage {
    func addBucketRoutes(to router: inout Router) {
        on(&router, .post, "bucket") { try await $0.createBucket($1) }
        on(&router, .get, "bucket") { try await $0.listBuckets($1) }
        on(&router, .get, "bucket/{bucket}") { storage, request in
            let token = try storage.caller(request)
            guard let bucket = try await storage.rows.bucket(request.parameters["bucket"] ?? "", as: token) else {
                throw Failure.noSuchBucket
            }
            return .json(bucket.bytes())
        }
        on(&router, .put, "bucket/{bucket}") { storage, request in
            let token = try storage.caller(request)
            try await storage.rows.update(
                request.parameters["bucket"] ?? "", try await storage.json(request), as: token)
            return .message("Successfully updated")
        }
        on(&router, .delete, "bucket/{bucket}") { storage, request in
            try await storage.rows.delete(request.parameters["bucket"] ?? "", as: try storage.caller(request))
            return .message("Successfully deleted")
        }
        on(&router, .post, "bucket/{bucket}/empty") { storage, request in
            let token = try storage.caller(request)
            let id = request.parameters["bucket"] ?? ""
            guard try await storage.rows.bucket(id, as: token) != nil else { throw Failure.noSuchBucket }
            try await storage.rows.removeAll(from: id, as: token)
            await storage.sweep()
            return .message("Empty bucket has been queued. Completion may take up to an hour.")
        }
    }

    private func createBucket(_ request: ServerRequest) async throws(Failure) -> ServerResponse {
        let token = try caller(request)
        let body = try await json(request)
        guard let name = body["id"]?.string ?? body["name"]?.string else {
            throw .invalidRequest("body must have required property 'name'")
        }
        guard FileObjectName.isBucket(name) else { throw .invalidBucketName }
        try await rows.create(name, body, as: token)
        return .json(JSON.object(["name": .string(name)]).bytes())
    }

    private func listBuckets(_ request: ServerRequest) async throws(Failure) -> ServerResponse {
        let token = try caller(request)
        let order = try FileRows.Order(
            [
                "column": .string(request.query("sortColumn") ?? "created_at"),
                "order": .string(request.query("sortOrder") ?? "asc"),
            ],
            columns: ["id", "name", "created_at", "updated_at"])
        let buckets = try await rows.buckets(
            search: request.query("search") ?? "", order,
            limit: request.query("limit").flatMap { Int($0) }.map { max($0, 0) },
            offset: max(request.query("offset").flatMap { Int($0) } ?? 0, 0), as: token)
        return .json(buckets.bytes())
    }
}

extension ServerResponse {
    /// The service's answer when something is done.
    static func message(_ text: String) -> ServerResponse { .json(JSON.object(["message": .string(text)]).bytes()) }
}
