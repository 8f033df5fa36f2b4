/// A place on Earth, in degrees.
public struct GeoPoint: Sendable, Hashable {
    /// −90 … 90.
    public let latitude: Double
    /// −180 … 180.
    public let longitude: Double

    /// - Throws: `.invalidArgument` for coordinates that are not on Earth.
    public init(latitude: Double, longitude: Double) throws(StorageError) {
        guard (-90...90).contains(latitude), (-180...180).contains(longitude) else {
            throw .invalid("A geo point needs a latitude in −90 … 90 and a longitude in −180 … 180.")
        }
        self.latitude = latitude
        self.longitude = longitude
    }
}
