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
            let changes = try await storage.body(request, .bucketChanges)
            try await storage.rows.update(
                request.parameters["bucket"] ?? "", changes, as: try storage.caller(request))
            return .message("Successfully updated")
        }
        on(&router, .delete, "bucket/{bucket}") { storage, request in
            try await storage.rows.delete(request.parameters["bucket"] ?? "", as: try storage.caller(request))
            return .message("Successfully deleted")
        }
        on(&router, .post, "bucket/{bucket}/empty") { storage, request in
            let token = try storage.caller(request)
            try storage.checkServiceRole(of: token)
            let id = request.parameters["bucket"] ?? ""
            guard try await storage.rows.bucket(id, as: token) != nil else { throw Failure.noSuchBucket }
            try await storage.rows.removeAll(from: id, as: token)
            await storage.sweep()
            return .message("Empty bucket has been queued. Completion may take up to an hour.")
        }
    }

    private func createBucket(_ request: ServerRequest) async throws(Failure) -> ServerResponse {
        let body = try await body(request, .newBucket)
        let token = try caller(request)
        let name = body["name"]?.string ?? ""
        let id = body["id"]?.string ?? ""
        guard FileObjectName.isBucket(name), !name.hasPrefix(" "), !name.hasSuffix(" ") else {
            throw .invalidBucketName
        }
        try await rows.create(id.isEmpty ? name : id, named: name, body, as: token)
        return .json(JSON.object(["name": .string(name)]).bytes())
    }

    private func listBuckets(_ request: ServerRequest) async throws(Failure) -> ServerResponse {
        let given = JSONObject(request.queryItems.map { (key: $0.name, value: JSON.string($0.value)) })
        let query = try RequestSchema.bucketList.converted(.object(given), as: "querystring")
        let token = try caller(request)
        let order = FileRows.Order(
            column: query["sortColumn"]?.string ?? "created_at", isDescending: query["sortOrder"] == "desc")
        let buckets = try await rows.buckets(
            search: query["search"]?.string ?? "", order, limit: query["limit"]?.int, offset: query["offset"]?.int ?? 0,
            as: token)
        return .json(buckets.bytes())
    }
}

extension ServerResponse {
    /// The service's answer when something is done.
    static func message(_ text: String) -> ServerResponse { .json(JSON.object(["message": .string(text)]).bytes()) }
}
