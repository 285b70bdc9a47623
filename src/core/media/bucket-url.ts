/** A place in S3-compatible storage. */
export interface BucketPlace {
  bucket: string
  /** Prepended to the name of every object: empty, or ending with a slash. */
  prefix: string
  /** URL of the bucket itself, without a slash at the end. */
  url: string
  region: string
}

const FORM =
  's3://BUCKET/PREFIX?endpoint=https://HOST&region=REGION (prefix, endpoint and region are optional)'

/** Reads `s3://bucket/prefix?endpoint=…&region=…`. Returns a sentence that starts with "must" if it is something else. */
export function parseBucketUrl(text: string, defaultRegion: string): BucketPlace | string {
  const match = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([\w./-]*))?(?:\?(.*))?$/.exec(text)
  if (!match) return `must have the form ${FORM}`
  const [, bucket = '', path = '', query = ''] = match
  const settings = new URLSearchParams(query)
  for (const name of settings.keys())
    if (name !== 'endpoint' && name !== 'region') return `must not have the setting "${name}": ${FORM}`
  const region = settings.get('region') || defaultRegion
  if (!/^[a-z0-9-]+$/.test(region)) return `must have a region such as us-east-1, not "${region}"`
  const endpoint = settings.get('endpoint')
  if (endpoint !== null && !/^https?:\/\/[^/?#@\s]+\/?$/.test(endpoint))
    return `must have an endpoint such as https://minio.example.com:9000, not "${endpoint}"`
  const folders = path.split('/').filter((name) => name !== '')
  return {
    bucket,
    prefix: folders.map((name) => `${name}/`).join(''),
    url: endpoint
      ? `${endpoint.replace(/\/$/, '')}/${bucket}`
      : `https://${bucket}.s3.${region}.amazonaws.com`,
    region,
  }
}
