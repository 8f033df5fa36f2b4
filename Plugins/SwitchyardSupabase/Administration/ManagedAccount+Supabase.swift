import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP

extension ManagedAccount {
    /// `nil` if the JSON is not an account, or is the remainder of a soft-deleted one.
    init?(supabase json: JSON, at now: Timestamp) {
        guard let user = AuthUser(supabase: json), json["deleted_at"]?.string == nil else { return nil }
        let end = json["banned_until"]?.string.flatMap { RFC3339.parse($0) }
        var claims: [String: DocumentValue] = [:]
        for member in json["app_metadata"]?.object ?? [:] where !Self.serviceClaims.contains(member.key) {
            claims[member.key] = DocumentValue(member.value)
        }
        self.init(
            user, isDisabled: end.map { ($0.seconds, $0.nanoseconds) > (now.seconds, now.nanoseconds) } ?? false,
            claims: claims)
    }

    /// The claims that the service itself stores beside the project's.
    static let serviceClaims: Set<String> = ["provider", "providers"]

    /// Claims as the service expects them.
    ///
    /// - Throws: `.invalidArgument` for a value that would not come back unchanged.
    static func supabase(claims: [String: DocumentValue]) throws(AuthError) -> JSONObject {
        var object: JSONObject = [:]
        for (name, value) in claims.sorted(by: { $0.key < $1.key }) {
            guard !serviceClaims.contains(name) else {
                throw AuthError(
                    .invalidArgument, "The claim “\(name)” is kept by Supabase itself. Choose another name.")
            }
            guard let json = JSON(claim: value) else {
                throw AuthError(
                    .invalidArgument,
                    "The claim “\(name)” has a value that tokens cannot carry. Use text, numbers up to 2⁵³, true and false, "
                        + "null, lists and maps.")
            }
            object[name] = json
        }
        return object
    }
}

extension JSON {
    /// `nil` if the value, or a value within it, has no plain JSON form. The service reads numbers as 64-bit floating point.
    fileprivate init?(claim value: DocumentValue) {
        switch value {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .integer(let value) where value.magnitude <= 1 << 53: self = .integer(value)
        case .double(let value) where value.isFinite: self = .number(value)
        case .string(let value): self = .string(value)
        case .array(let elements):
            let values = elements.compactMap { JSON(claim: $0) }
            guard values.count == elements.count else { return nil }
            self = .array(values)
        case .map(let data):
            var object: JSONObject = [:]
            for (name, value) in data {
                guard let json = JSON(claim: value) else { return nil }
                object[name] = json
            }
            self = .object(object)
        case .integer, .double, .timestamp, .bytes, .reference, .geoPoint, .vector: return nil
        }
    }
}
