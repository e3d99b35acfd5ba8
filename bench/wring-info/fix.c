/* fix.c: what is missing for RDMA on this machine, and the command that mends it. */
/* SPDX-License-Identifier: MIT */
#include "bench/wring-info/wring-info.h"

#include <dirent.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Less than this is not enough for slots and gradients of a small job. */
#define MEMLOCK_ENOUGH ((rlim_t)256 << 20)

/* command is printf-like; a mend that is listed already is not listed again. */
__attribute__((format(printf, 3, 4))) static void add(struct info *info, const char *reason,
						      const char *command, ...)
{
	struct info_mend *mend = &info->mends[info->n_mends];
	va_list args;

	if (info->n_mends == INFO_MENDS)
		return;
	va_start(args, command);
	(void)vsnprintf(mend->command, sizeof(mend->command), command, args);
	va_end(args);
	(void)snprintf(mend->reason, sizeof(mend->reason), "%s", reason);
	for (int i = 0; i < info->n_mends; i++)
		if (!strcmp(info->mends[i].command, mend->command))
			return;
	info->n_mends++;
}

static bool exists(const char *path)
{
	return access(path, F_OK) == 0;
}

static bool has_entries(const char *path)
{
	DIR *directory = opendir(path);
	const struct dirent *entry;
	bool found = false;

	if (!directory)
		return false;
	while (!found && (entry = readdir(directory)))
		found = entry->d_name[0] != '.';
	(void)closedir(directory);
	return found;
}

/* A network interface that Soft-RoCE could sit on; "NETDEV" if none is seen. */
static void find_netdev(char *name, size_t len)
{
	struct ifaddrs *all, *one;

	(void)snprintf(name, len, "NETDEV");
	if (getifaddrs(&all))
		return;
	for (one = all; one; one = one->ifa_next) {
		if ((one->ifa_flags & IFF_LOOPBACK) || !(one->ifa_flags & IFF_UP))
			continue;
		(void)snprintf(name, len, "%s", one->ifa_name);
		break;
	}
	freeifaddrs(all);
}

static bool is_loaded(const char *module)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/sys/module/%s", module);
	return exists(path);
}

/* --- no device ----------------------------------------------------------------------------- */

static void mend_no_kernel_device(struct info *info)
{
	char netdev[IF_NAMESIZE];

	if (!is_loaded("rdma_rxe")) {
		add(info, "Soft-RoCE asks for this module by name", "modprobe crc32_generic");
		add(info,
		    "no RDMA device is known to the kernel: Soft-RoCE needs no hardware (an HCA "
		    "needs its driver instead: mlx5_ib, irdma, bnxt_re, ...)",
		    "modprobe rdma_rxe");
	}
	find_netdev(netdev, sizeof(netdev));
	add(info, "makes an RDMA device out of a network interface",
	    "rdma link add rxe0 type rxe netdev %s", netdev);
}

static void mend_no_device(struct info *info)
{
	if (!has_entries("/sys/class/infiniband"))
		mend_no_kernel_device(info);
	if (!is_loaded("ib_uverbs") || info->list_error == ENOSYS)
		add(info, "programs reach RDMA devices through this module", "modprobe ib_uverbs");
	else if (!exists("/dev/infiniband"))
		add(info, "the device files are not here; this may be a container",
		    "docker run --device /dev/infiniband --ulimit memlock=-1 ...");
	else if (has_entries("/sys/class/infiniband_verbs"))
		add(info, "the kernel has a device, but libibverbs has no provider for it",
		    "apt-get install ibverbs-providers");
}

static void mend_unknown_device(struct info *info, const char *name)
{
	char reason[240];

	(void)snprintf(reason, sizeof(reason), "there is no RDMA device %.63s; this shows all",
		       name);
	add(info, reason, "wring-info");
}

/* --- a device that is not enough ----------------------------------------------------------- */

static void mend_closed(struct info *info, const struct info_device *device)
{
	char reason[240];

	(void)snprintf(reason, sizeof(reason), "%.63s cannot be opened: %s", device->name,
		       strerror(device->open_error));
	if (!exists("/dev/infiniband"))
		add(info, reason, "docker run --device /dev/infiniband --ulimit memlock=-1 ...");
	else if (device->open_error == EACCES || device->open_error == EPERM)
		add(info, reason, "chmod a+rw /dev/infiniband/%s", device->file);
	else
		add(info, reason, "dmesg | tail");
}

static void mend_ethernet(struct info *info, const struct info_port *port)
{
	const char *netdev = *port->netdev ? port->netdev : "NETDEV";

	if (port->attr.state != IBV_PORT_ACTIVE)
		add(info, port->why, "ip link set %s up", netdev);
	else
		add(info, port->why, "ip addr add ADDRESS/24 dev %s", netdev);
}

static void mend_infiniband(struct info *info, const struct info_port *port)
{
	if (port->attr.state == IBV_PORT_INIT || port->attr.state == IBV_PORT_ACTIVE)
		add(info, port->why, "systemctl start opensm");
	else
		add(info, port->why, "ibstat");
}

static void mend_device(struct info *info, const struct info_device *device)
{
	if (device->open_error) {
		mend_closed(info, device);
		return;
	}
	for (int i = 0; i < device->n_ports; i++) {
		if (device->ports[i].usable || device->transport != IBV_TRANSPORT_IB)
			continue;
		if (device->ports[i].attr.link_layer == IBV_LINK_LAYER_ETHERNET)
			mend_ethernet(info, &device->ports[i]);
		else
			mend_infiniband(info, &device->ports[i]);
	}
}

/* Who has CAP_IPC_LOCK may pin what he likes. */
static bool is_exempt(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	unsigned long long effective = 0;
	char line[256];

	if (!file)
		return false;
	while (fgets(line, (int)sizeof(line), file))
		if (sscanf(line, "CapEff: %llx", &effective) == 1)
			break;
	(void)fclose(file);
	return effective >> CAP_IPC_LOCK & 1;
}

static void mend_memlock(struct info *info)
{
	if (info->memlock.rlim_cur == RLIM_INFINITY || info->memlock.rlim_cur >= MEMLOCK_ENOUGH)
		return;
	if (is_exempt())
		return;
	if (info->memlock.rlim_max == RLIM_INFINITY || info->memlock.rlim_max >= MEMLOCK_ENOUGH)
		add(info,
		    "RLIMIT_MEMLOCK is small: buffers cannot be registered; in the shell "
		    "that starts the ranks",
		    "ulimit -l unlimited");
	else
		add(info,
		    "RLIMIT_MEMLOCK is small: buffers cannot be registered; as root, then "
		    "log in again",
		    "echo '* - memlock unlimited' >>/etc/security/limits.conf");
}

void info_find_mends(struct info *info, const struct info_filter *filter)
{
	bool others = *filter->device && has_entries("/sys/class/infiniband_verbs");

	if (!info->n_devices && others)
		mend_unknown_device(info, filter->device);
	else if (!info->n_devices)
		mend_no_device(info);
	for (int i = 0; i < info->n_devices; i++)
		mend_device(info, &info->devices[i]);
	mend_memlock(info);
}
