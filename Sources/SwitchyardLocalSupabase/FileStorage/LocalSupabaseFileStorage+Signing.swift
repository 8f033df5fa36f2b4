import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// Signed URLs, which need no session; available to callers who may read or write the object now.
extension LocalSupabaseFileStorage {
    /// The lifetime of a signed upload URL, as with the vendor.
    private static let uploadSeconds: Int64 = 7200

    func sign(_ request: ServerRequest) async throws(Failure) -> ServerResponse {
        let body = try await body(request, .signing)
        let token = try caller(request)
        let place = try FileObjectName(request, behind: "object/sign")
        let seconds = try seconds(body)
        guard try await rows.object(place, as: token) != nil else { throw .noSuchKey }
        return .json(JSON.object(["signedURL": .string(address(of: place, seconds))]).bytes())
    }

    func signMany(_ request: ServerRequest) async throws(Failure) -> ServerResponse {
        let body = try await body(request, .signings)
        let token = try caller(request)
        let bucket = request.parameters["bucket"] ?? ""
        let seconds = try seconds(body)
        let paths = (body["paths"]?.array ?? []).compactMap(\.string)
        let visible = try await rows.rows(
            """
            select coalesce(json_agg(name), '[]') from storage.objects
            where bucket_id = $1 and name in (select jsonb_array_elements_text($2::jsonb))
            """, [bucket, JSON.array(paths.map { .string($0) }).text()], as: token)
        let names = Set((visible.array ?? []).compactMap(\.string))
        let answers = paths.map { path -> JSON in
            guard names.contains(path), let place = try? FileObjectName(bucket: bucket, name: path) else {
                return [
                    "error": "Either the object does not exist or you do not have access to it",
                    "path": .string(path), "signedURL": .null,
                ]
            }
            return ["error": .null, "path": .string(path), "signedURL": .string(address(of: place, seconds))]
        }
        return .json(JSON.array(answers).bytes())
    }

    /// Relative to the service's address, and with an unencoded path.
    private func address(of place: FileObjectName, _ seconds: Int64) -> String {
        "/object/sign/\(place.key)?token=\(seal.token(.download, for: place, validFor: seconds))"
    }

    private func seconds(_ body: JSON) throws(Failure) -> Int64 {
        // As with the vendor, the end has to be a time that JavaScript can count in milliseconds.
        let last: Int64 = 9_007_199_254_740
        guard let seconds = body["expiresIn"]?.int64, seconds <= last - access.now() else {
            throw .invalidParameter("expiresIn")
        }
        return seconds
    }

    // MARK: Writing

    func signUpload(_ request: ServerRequest) async throws(Failure) -> ServerResponse {
        try await checkBody(of: request)
        let token = try caller(request)
        let place = try FileObjectName(request, behind: "object/upload/sign")
        let object = NewObject(
            place: place, replaces: request.headers["x-upsert"] == "true", owner: token.subject)
        _ = try await rows.bucket(place.bucket)
        try await rows.check(object, as: token)
        var right: JSONObject = ["upsert": .bool(object.replaces)]
        right["owner"] = object.owner.map { .string($0) }
        let text = seal.token(.upload, for: place, validFor: Self.uploadSeconds, right)
        return .json(
            JSON.object([
                "url": .string("/object/upload/sign/\(place.key)?token=\(text)"), "token": .string(text),
            ]).bytes())
    }

    func uploadSigned(_ request: ServerRequest) async throws(Failure) -> ServerResponse {
        let place = try FileObjectName(request, behind: "object/upload/sign")
        let object = try signedObject(place, request.query("token"))
        let stored = try await receive(request, object, as: .service)
        return .json(JSON.object(["Key": .string(stored.place.key)]).bytes())
    }

    /// The object that a token allows its bearer to write, with the rights at the time of signing.
    func signedObject(_ place: FileObjectName, _ token: String?) throws(Failure) -> NewObject {
        let claims = try seal.claims(of: token, .upload, for: place)
        return NewObject(
            place: place, replaces: claims["upsert"]?.bool ?? false, owner: claims["owner"]?.string)
    }
}

/// Signs URLs that are valid without a session. Their key differs from that of sessions, so that neither is accepted as the
/// other.
struct FileURLSigner: Sendable {
    enum Purpose: String, Sendable { case download, upload }

    private let key: [UInt8]
    private let now: @Sendable () -> Int64

    init(_ access: SupabaseAccess) {
        key = HMACSHA256.code(for: Array("signed addresses".utf8), key: access.secret)
        now = access.now
    }

    func token(_ purpose: Purpose, for place: FileObjectName, validFor seconds: Int64, _ more: JSONObject = [:])
        -> String
    {
        var claims: JSONObject = [
            "url": .string(place.key), "scope": .string(purpose.rawValue), "iat": .integer(now()),
            "exp": .integer(now().addingReportingOverflow(seconds).partialValue),
        ]
        for member in more { claims[member.key] = member.value }
        return SupabaseToken(claims: claims).text(secret: key)
    }

    /// The token's claims.
    ///
    /// - Throws: `InvalidJWT` for an invalid or expired token, `InvalidSignature` for a token of another URL.
    func claims(
        of token: String?, _ purpose: Purpose, for place: FileObjectName
    ) throws(LocalSupabaseFileError) -> JSONObject {
        let claims: JSONObject
        do throws(SupabaseToken.Refusal) {
            claims = try SupabaseToken(token ?? "", secret: key, now: now() + SupabaseToken.leeway).claims
        } catch {
            switch error {
            case .expired: throw .invalidToken("\"exp\" claim timestamp check failed")
            case .wrongSignature: throw .invalidToken("signature verification failed")
            default: throw .invalidToken("Invalid Compact JWS")
            }
        }
        guard claims["url"]?.string == place.key, claims["scope"]?.string == purpose.rawValue else {
            throw .invalidSignature
        }
        return claims
    }
}
