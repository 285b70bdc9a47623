import { join } from 'node:path'
import { postgresPrograms } from './installed.js'

/** Where a member of the cluster keeps its files and listens. */
export interface Place {
  name: string
  directory: string
  postgres: string
  api: string
  etcd: string
}

/** Seconds. Patroni 3.1 and newer take 20 instead. */
const TTL = 10

/** Patroni's configuration of one member. JSON is YAML. */
export function settingsOf({ name, directory, postgres, api, etcd }: Place): string {
  const login = { username: 'trunkline', password: 'trunkline' }
  return JSON.stringify({
    scope: 'trunkline',
    name,
    restapi: { listen: api, connect_address: api },
    etcd3: { host: etcd },
    bootstrap: {
      dcs: {
        ttl: TTL,
        loop_wait: 1,
        retry_timeout: 3,
        // A failover to an asynchronous standby may lose commits.
        synchronous_mode: true,
        postgresql: {
          use_pg_rewind: true,
          remove_data_directory_on_rewind_failure: true,
          remove_data_directory_on_diverged_timelines: true,
          parameters: {
            max_connections: 200,
            shared_buffers: '64MB',
            wal_keep_size: '1GB',
            password_encryption: 'md5',
            // A killed server leaves shared memory behind; in its own folder, it goes with the folder.
            dynamic_shared_memory_type: 'mmap',
          },
        },
      },
      initdb: [{ encoding: 'UTF8' }, 'data-checksums'],
    },
    postgresql: {
      listen: postgres,
      connect_address: postgres,
      data_dir: join(directory, 'data'),
      bin_dir: postgresPrograms(),
      pgpass: join(directory, 'pgpass'),
      authentication: { superuser: login, replication: login },
      parameters: { unix_socket_directories: '' },
      pg_hba: ['host all all 127.0.0.1/32 md5', 'host replication all 127.0.0.1/32 md5'],
    },
  })
}
